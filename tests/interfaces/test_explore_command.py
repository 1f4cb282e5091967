"""``entitynlm explore``: the page is served until Ctrl-C, at the address that is printed."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError
from entitynlm.interfaces.commands.explore import listen


def test_the_printed_address_opens_the_page_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text("Anna lost her key. She called Bob.")
    arguments = ["explore", str(story), "--model", "entitynlm-en", "--no-browser"]
    command = [sys.executable, "-u", "-m", "entitynlm.interfaces.cli", *arguments]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        line = running.stdout.readline()
        found = re.search(r"(http://127\.0\.0\.1:\d+)/#token=([\w-]+)&text=([\w-]+)", line)
        assert found, line
        address, token, text = found.groups()
        assert b"entitynlm explorer" in urllib.request.urlopen(f"{address}/", timeout=30).read()
        request = urllib.request.Request(f"{address}/api/texts/{text}", headers={"X-Explorer-Token": token})
        assert b'"name":"story"' in urllib.request.urlopen(request, timeout=30).read()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{address}/api/texts", timeout=30)
        running.send_signal(signal.SIGINT)
        running.wait(60)
        assert "Traceback" not in running.stderr.read()  # type: ignore[union-attr]
    finally:
        running.kill()
        running.communicate()


def test_a_port_that_is_taken_is_explained() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ConfigError, match="try another --port"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])
