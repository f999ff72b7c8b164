# `make run` and `make test` need nothing but git, make and Swift: they install the system packages, build, and do
# their job. `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help build run test check bench bench-compare bench-alternatives lint format api man docs site site-test fuzz-smoke soak install uninstall clean desktop desktop-test check-apple desktop-bench deb deb-test server-image

PREFIX ?= /usr/local
DESTDIR ?=
# Tests run in this configuration; `make soak` always takes release.
TEST_CONFIGURATION ?= debug
TEST_PRODUCTS := .build-test/$(TEST_CONFIGURATION)

SWIFT := scripts/with-swift swift
# How the programs are built that are installed.
RELEASE = $(SWIFT) build $(shell scripts/release-options) $(STRICT)
# Nothing is installed for a toolchain that is too old.
BOOTSTRAP := scripts/with-swift scripts/bootstrap
STRICT := --explicit-target-dependency-import-check error
SOURCES := $(wildcard Sources Examples Tests Benchmarks Fuzz Package.swift Apps/*/Sources)
INSTALL := install
STRIP ?= strip

# What `make build` leaves for `make install`, so that `sudo make install` compiles nothing and needs no Swift.
STAGE := build/stage

help:
	@echo 'make run          bootstrap, build, and take the tour'
	@echo 'make test         bootstrap, build and run the tests, those of the desktop app and of the Apple branch too'
	@echo 'make check        the same with full counts and every scenario of the desktop app; packages, site, a quick bench'
	@echo 'make bench        measure; prints one line per figure and writes bench.json'
	@echo 'make bench-compare OLD=REV NEW=REV  both in turns, and what differs beyond the noise; ONLY=NAMES'
	@echo 'make bench-alternatives  the vault beside pass, KeePassXC, age, SQLCipher and others'
	@echo 'make lint         format, layout, public API and script checks'
	@echo 'make api          the public declarations in build/api, which lint counts'
	@echo 'make man          write what the manual page has of the command table'
	@echo 'make format       format the sources in place'
	@echo 'make docs         reference documentation in build/docs; a warning is an error'
	@echo 'make site         the documents as pages, in build/site; make site-test tries them in Chromium'
	@echo 'make fuzz-smoke   the fuzzers, a minute each'
	@echo 'make soak         the tests with their full counts, mutants, then the thread and address sanitizers'
	@echo 'make desktop-bench first frame, memory, lock to cover; one line per figure'
	@echo 'make check-apple  build and test the Apple branch against stand-ins, its views as iOS and as macOS'
	@echo 'make build        the release binary'
	@echo 'make desktop      bootstrap, build and start the desktop app (GTK 4, libadwaita)'
	@echo 'make desktop-test drive the desktop app on a display of its own; pictures in build/screenshots'
	@echo 'make install      programs, man pages, completions, units and documents, below PREFIX ($(PREFIX)) and DESTDIR'
	@echo 'make deb          Debian packages of what is committed, in build/packages; PACKAGES=--all for every Debian'
	@echo 'make deb-test     install, use, upgrade and purge them in a clean Debian of each (needs root)'
	@echo 'make server-image an OCI image of the server from those packages, without a registry'
	@echo 'make uninstall    removes what install put there'
	@echo 'make clean        removes everything that was built'

# What only builds of the tests have (scripts/test-options) is not asked for by whoever calls make.
unexport HOLDFAST_OPTIMIZED

build:
	@$(BOOTSTRAP)
	$(RELEASE) --product holdfast
	$(RELEASE) --product holdfast-server
	@mkdir -p $(STAGE)
	@cp -f .build/release/holdfast .build/release/holdfast-server $(STAGE)/
	@version=$$($(STAGE)/holdfast --version) || exit 1; \
	case $$version in *'test build'*) rm -rf $(STAGE); echo "$$version: see scripts/test-options" >&2; exit 1 ;; esac

# The examples are beside the programs that they start. `make install` does not take them.
run: build
	$(RELEASE) --product holdfast-tour
	@cp -f .build/release/holdfast-tour $(STAGE)/
	@$(STAGE)/holdfast-tour

# Less than twelve minutes on two cores, from a fresh clone: the tests, the desktop app, the Apple branch.
test:
	@$(BOOTSTRAP) --test --desktop --desktop-test
	@scripts/test $(TEST_CONFIGURATION)

check:
	@HOLDFAST_CHECK=1 HOLDFAST_DESKTOP=full $(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory PACKAGES=--bench deb
	@$(MAKE) --no-print-directory PACKAGES='--debian 13' deb deb-test
	@HOLDFAST_SITE=full $(MAKE) --no-print-directory site site-test
	@$(BOOTSTRAP) --bench --test
	@scripts/bench --packages --quick

# The command that is measured is the one that `make install` installs. BENCH takes options (see --help).
BENCH ?=

bench: build
	@$(BOOTSTRAP) --bench --test
	@scripts/bench $(BENCH)

# Two commits, built beside each other and measured in turns: make bench-compare OLD=main NEW=HEAD ONLY='get- put-'
OLD ?= HEAD~1
NEW ?= HEAD
ONLY ?=

bench-compare:
	@$(BOOTSTRAP) --bench --test
	@scripts/bench-compare $(OLD) $(NEW) $(ONLY)

# What else holds secrets on Debian, beside the release build.
bench-alternatives: build
	@$(BOOTSTRAP) --bench --test
	@scripts/bench-alternatives $(STAGE)/holdfast

lint:
	@$(BOOTSTRAP) --test
	@$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	@scripts/check-layout
	@scripts/test-check-layout
	@scripts/test-run-tests
	@scripts/check-scripts
	@scripts/check-units
	@scripts/check-workflows
	@scripts/test-check-workflows
	@scripts/test-bench-compare
	@$(BUILD_LIBRARIES)
	@scripts/api --check
	@scripts/docs

# The public API is read from the modules as they are built for the tests.
BUILD_LIBRARIES = bash -c '. scripts/test-options debug; for module in HoldfastUI HoldfastTesting HoldfastAgent BetterAuthServer; do \
	$(SWIFT) build "$${test_options[@]}" --target $$module --quiet || exit 1; done'

api:
	@$(BOOTSTRAP) --test
	@$(BUILD_LIBRARIES)
	@scripts/api

man: build
	@scripts/man $(STAGE)/holdfast

format:
	@$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

docs:
	@$(BOOTSTRAP) --test
	@$(BUILD_LIBRARIES)
	@scripts/docs

# The documents as pages, with a search and nothing from elsewhere.
site:
	@$(BOOTSTRAP) --site
	@scripts/site

site-test: site
	@scripts/site-test

fuzz-smoke:
	@$(BOOTSTRAP)
	@scripts/fuzz 60

soak:
	@$(BOOTSTRAP) --test
	@scripts/soak

# The desktop app is in the manifest only when it is asked for, so that nothing else needs GTK.
desktop:
	@$(BOOTSTRAP) --desktop
	@scripts/desktop release build/desktop
	@build/desktop/bin/holdfast-desktop

# NAMES picks scenarios; HOLDFAST_SOAK=1 adds those that wait for a whole countdown.
NAMES ?=

desktop-test:
	@$(BOOTSTRAP) --desktop --desktop-test
	@scripts/desktop-messages
	@scripts/desktop test build/desktop-$(TEST_CONFIGURATION) $(TEST_CONFIGURATION)
	@bash -c '. scripts/test-options $(TEST_CONFIGURATION); for product in holdfast holdfast-server; do \
		$(SWIFT) build "$${test_options[@]}" --product $$product || exit 1; done'
	@HOLDFAST_COMMAND=$(TEST_PRODUCTS)/holdfast HOLDFAST_SERVER=$(TEST_PRODUCTS)/holdfast-server \
		scripts/desktop-test build/desktop-$(TEST_CONFIGURATION)/bin/holdfast-desktop $(NAMES)

check-apple:
	@$(BOOTSTRAP) --test
	@scripts/check-apple

desktop-bench:
	@$(BOOTSTRAP) --desktop --desktop-test
	@HOLDFAST_BUILD_OPTIONS="$(shell scripts/release-options)" scripts/desktop release build/desktop
	@scripts/with-swift clang -O2 Apps/Linux/Tests/interface/empty_window.c -o build/empty-window \
		$$(pkg-config --cflags --libs libadwaita-1)
	@HOLDFAST_EMPTY_WINDOW=$(CURDIR)/build/empty-window \
		scripts/desktop-test build/desktop/bin/holdfast-desktop first_run figures

# Options of scripts/packages.
PACKAGES ?=

deb:
	@$(BOOTSTRAP) --desktop --packages
	@scripts/packages $(PACKAGES)

deb-test:
	@$(BOOTSTRAP) --packages
	@scripts/packages-test
	@scripts/server-image-test
	@scripts/check-recipes

server-image:
	@$(BOOTSTRAP) --packages
	@scripts/server-image

BINARY := $(DESTDIR)$(PREFIX)/bin/holdfast
SERVER := $(DESTDIR)$(PREFIX)/bin/holdfast-server
MANUAL := $(DESTDIR)$(PREFIX)/share/man/man1/holdfast.1
SERVER_MANUAL := $(DESTDIR)$(PREFIX)/share/man/man1/holdfast-server.1
BASH_COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/holdfast
ZSH_COMPLETION := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_holdfast
FISH_COMPLETION := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/holdfast.fish
# The completions of both programs.
BASH_COMPLETIONS := $(BASH_COMPLETION) $(BASH_COMPLETION)-server
ZSH_COMPLETIONS := $(ZSH_COMPLETION) $(ZSH_COMPLETION)-server
FISH_COMPLETIONS := $(FISH_COMPLETION) $(FISH_COMPLETION:.fish=-server.fish)
# Names under which git, Docker, Cargo and kubectl call the command.
HELPERS := $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(addsuffix -credential-holdfast,git docker cargo kubernetes))
# What the program and its messages refer to, in their usual places.
DOCUMENTS := $(DESTDIR)$(PREFIX)/share/doc/holdfast
READERS := $(DESTDIR)$(PREFIX)/share/holdfast
UNITS := $(DESTDIR)$(PREFIX)/lib/systemd
AGENT_UNITS := $(addprefix $(UNITS)/user/holdfast-agent,.service @.service .socket -ssh.socket -credentials.service -credentials.socket)
CREDENTIAL_UNITS := $(addprefix $(UNITS)/system/holdfast-credentials,.service .socket)
SERVER_UNITS := $(UNITS)/system/holdfast-server.service $(UNITS)/system/holdfast-server.socket
READER_FILES := $(addprefix $(READERS)/,holdfast_decrypt.py holdfast_log_verify.py holdfast_sync_decrypt.py)
INSTALLED := $(AGENT_UNITS) $(CREDENTIAL_UNITS) $(SERVER_UNITS) $(READER_FILES) $(BINARY) $(HELPERS) $(SERVER) $(MANUAL) $(SERVER_MANUAL) $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)

install:
	@test -x $(STAGE)/holdfast -a -x $(STAGE)/holdfast-server || $(MAKE) build
	$(INSTALL) -d $(sort $(dir $(INSTALLED)))
	$(INSTALL) -m 755 $(STAGE)/holdfast $(BINARY)
	-$(STRIP) $(BINARY)
	@$(foreach helper,$(HELPERS),ln -sf $(notdir $(BINARY)) $(helper) &&) true
	$(INSTALL) -m 755 $(STAGE)/holdfast-server $(SERVER)
	-$(STRIP) $(SERVER)
	$(INSTALL) -m 644 Docs/man/holdfast.1 $(MANUAL)
	$(INSTALL) -m 644 Docs/man/holdfast-server.1 $(SERVER_MANUAL)
	@$(foreach file,$(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS),$(INSTALL) -m 644 /dev/null $(file) &&) true
	$(STAGE)/holdfast completions bash > $(BASH_COMPLETION)
	$(STAGE)/holdfast completions zsh > $(ZSH_COMPLETION)
	$(STAGE)/holdfast completions fish > $(FISH_COMPLETION)
	$(STAGE)/holdfast-server completions bash > $(BASH_COMPLETION)-server
	$(STAGE)/holdfast-server completions zsh > $(ZSH_COMPLETION)-server
	$(STAGE)/holdfast-server completions fish > $(FISH_COMPLETION:.fish=-server.fish)
	$(INSTALL) -m 755 $(addprefix scripts/,$(notdir $(READER_FILES))) $(READERS)
	$(foreach unit,$(AGENT_UNITS) $(CREDENTIAL_UNITS) $(SERVER_UNITS),sed 's|/usr/local/bin|$(PREFIX)/bin|' Docs/$(notdir $(unit)) > $(unit) && chmod 644 $(unit) &&) true
	$(INSTALL) -d $(DOCUMENTS)/programs $(DOCUMENTS)/pam $(DOCUMENTS)/monitoring $(DOCUMENTS)/proxies $(DOCUMENTS)/kubernetes
	$(INSTALL) -m 644 README.md SECURITY.md CHANGELOG.md LICENSE $(filter-out Docs/README.md,$(wildcard Docs/*.md)) Docs/server.conf Docs/holdfast-service-example.service $(DOCUMENTS)
	$(INSTALL) -m 644 $(wildcard Docs/holdfast-server*.*) $(DOCUMENTS)
	$(INSTALL) -m 644 Docs/programs/* $(DOCUMENTS)/programs
	$(INSTALL) -m 644 Docs/monitoring/* $(DOCUMENTS)/monitoring
	$(INSTALL) -m 644 Docs/proxies/* $(DOCUMENTS)/proxies
	$(INSTALL) -m 644 Docs/kubernetes/* $(DOCUMENTS)/kubernetes
	$(INSTALL) -m 644 Docs/pam/holdfast $(DOCUMENTS)/pam

uninstall:
	rm -f $(INSTALLED)
	rm -rf $(DOCUMENTS)
	rmdir $(READERS) 2>/dev/null || true

clean:
	rm -rf .build .build-* Apps/*/.build build bench.json
