# What can be done here: `make help`. One cargo profile (release) serves everything, so that the heavy dependencies are
# compiled once. Only package registries are needed, and only the first time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CARGO ?= cargo
HYPERCANE := target/release/hypercane
# The demonstrations write here; `make clean` removes it.
DEMO_LAKE ?= demo-lake
# How many random histories `make laws` runs, of operators and of whole pipelines; `make test` runs a tenth of them.
LAWS_HISTORIES ?= 10000
LAWS_PIPELINES ?= 500
# For how long `make soak` replays the storm.
MINUTES ?= 10

.PHONY: help demo demo-kafka build test laws torture faults check fmt lint doc bench soak models kafka packages packages-kafka clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: models build ## replay a storm in memory, follow ten questions, write a lake
	$(HYPERCANE) demo --lake $(DEMO_LAKE)

demo-kafka: packages-kafka models build ## the same through Apache Kafka, which is fetched, started and stopped
	deploy/kafka/with-broker.sh $(HYPERCANE) demo --lake $(DEMO_LAKE) --brokers '{brokers}'

build: packages ## build the command target/release/hypercane
	$(CARGO) build --release --locked --workspace --bin hypercane

test: packages-kafka models check doc ## everything: format, lints, docs, all tests with a real Kafka broker
	deploy/kafka/with-broker.sh $(CARGO) test --release --locked --workspace

laws: packages ## rebuild equals increment: many random histories of every operator and of whole pipelines
	LAWS_HISTORIES=$(LAWS_HISTORIES) LAWS_PIPELINES=$(LAWS_PIPELINES) \
		$(CARGO) test --release --locked --workspace --test laws --test it -- random_histories kept_sessions one_worker

faults: packages-kafka models build ## break brokers, disks and files under a running pipeline; show what its user sees
	deploy/kafka/with-broker.sh $(CARGO) test --release --locked --workspace --test it faults -- --nocapture --test-threads 1

check: lint ## format and lints
	$(CARGO) fmt --all --check

fmt: ## format the code
	$(CARGO) fmt --all

lint: packages ## clippy on all targets; a warning is an error
	$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings

doc: packages ## the documentation of the crates, in target/doc; a warning is an error
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --locked --workspace --no-deps

torture: packages-kafka models ## kill the running pipeline N times (N=200, SEED=...) and look for what is lost, twice or left over
	TORTURE_KILLS=$(or $(N),200) TORTURE_SEED=$(SEED) deploy/kafka/with-broker.sh $(CARGO) test --release --locked --workspace --test torture

bench: packages models ## all benches
	$(CARGO) bench --locked --workspace

soak: build ## replay one storm over and over for MINUTES=10; fails when memory or files grow
	$(HYPERCANE) bench soak --minutes $(MINUTES)

models: packages ## fetch the embedding model and the language model into .cache
	deploy/setup/fetch-models.sh >/dev/null

kafka: packages-kafka ## fetch Apache Kafka into .cache
	deploy/setup/fetch-kafka.sh >/dev/null

packages: ## look whether the machine has what a build needs; as root on Debian, install what is missing
	@deploy/setup/packages.sh build

packages-kafka:
	@deploy/setup/packages.sh build kafka

clean: ## remove what was built and the lake of the demonstration; what was fetched stays in .cache
	$(CARGO) clean
	rm -rf $(DEMO_LAKE)
