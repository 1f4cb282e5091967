(function () {
  "use strict";
  var text = document.getElementById("text"), tip = document.getElementById("tip");
  var mentions = JSON.parse(document.getElementById("mentions").textContent);
  var unit = mentions.unit, rows = mentions.rows;

  ["entities", "surprisal"].forEach(function (name) {
    document.getElementById("show-" + name).addEventListener("change", function (event) {
      text.classList.toggle(name, event.target.checked);
    });
  });

  function follow(number) {
    var pressed = null;
    document.querySelectorAll("#cast button").forEach(function (button) {
      var own = button.dataset.e === number && button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", own);
      if (own) { pressed = number; }
    });
    text.classList.toggle("following", pressed !== null);
    text.querySelectorAll(".m").forEach(function (mention) {
      mention.classList.toggle("followed", mention.dataset.e === pressed);
    });
    var first = text.querySelector(".followed");
    if (first && text.classList.contains("long")) { first.scrollIntoView({ block: "nearest" }); }
  }
  document.querySelectorAll("#cast button").forEach(function (button) {
    button.addEventListener("click", function () { follow(button.dataset.e); });
  });

  // Everything shown goes through textContent: the text is somebody's, and may hold anything.
  function add(parent, kind, content) {
    var element = document.createElement(kind);
    if (content !== undefined) { element.textContent = content; }
    parent.appendChild(element);
    return element;
  }
  function line(label, value) {
    var row = add(tip, "div");
    add(row, "span", label + " ");
    row.appendChild(document.createTextNode(value));
  }
  function describeToken(token) {
    var values = token.dataset.v.split(",");
    add(tip, "b", token.textContent);
    line("surprisal", values[0] + (values[1] ? " ± " + values[1] : "") + " " + unit);
    if (values[2]) { line("without entities", values[2] + " " + unit); }
    if (values[3]) { line("in a mention, expected", values[3] + " %"); }
    if (values[4]) { line("not in the vocabulary; of this its spelling", values[4] + " " + unit); }
  }
  function describeMention(mention) {
    var row = rows[+mention.dataset.m];
    if (tip.childNodes.length) { add(tip, "hr"); }
    add(tip, "b", row.who);
    if (!row.form) { line("", "inside of another mention, or too long: the model has no figures for it"); return; }
    line("", row.form + ", " + (row.since === null ? "new" : row.since + " words after its last mention"));
    line("this referent", row.surprisal + " " + unit + " (entropy " + row.entropy + ")");
    line("expected", row.ranked.map(function (pair) { return pair[0] + " " + pair[1] + " %"; }).join(" · "));
  }
  function place(event) {
    var wide = tip.offsetWidth, high = tip.offsetHeight;
    tip.style.left = Math.max(6, Math.min(event.clientX + 14, window.innerWidth - wide - 8)) + "px";
    tip.style.top = (event.clientY + high + 26 > window.innerHeight ? event.clientY - high - 12 : event.clientY + 18) + "px";
  }
  text.addEventListener("mousemove", function (event) {
    var token = event.target.closest(".t[data-v]"), mention = event.target.closest(".m");
    if (!token && !mention) { tip.hidden = true; return; }
    tip.textContent = "";
    if (token) { describeToken(token); }
    if (mention) { describeMention(mention); }
    tip.hidden = false;
    place(event);
  });
  document.querySelector('a[href="#changes"]').addEventListener("click", function () {
    document.querySelector("#changes details").open = true;
  });
  text.addEventListener("mouseleave", function () { tip.hidden = true; });
})();
