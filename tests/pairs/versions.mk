# The version of 60 files: by a shell for each use of the variable, or by one.
ifeq ($(MODE),fixed)
VERSION := $(shell git --version | cut -d' ' -f3)
else
VERSION = $(shell git --version | cut -d' ' -f3)
endif
FILES := $(shell seq 60)

.PHONY: all
all:
	@: $(foreach file,$(FILES),$(file)-$(VERSION)) ; echo made
