# Rules of a case in C. Builds build/slow and build/fixed of common/main.c, files of cases/common (COMMON), and $(SUBJECT).c, in which the
# two versions differ. Its interface is common/$(SUBJECT).h.

CC ?= cc
CFLAGS ?= -O2 -g
WARNINGS := -std=gnu17 -Wall -Wextra -Werror
CPPFLAGS += -Icommon -I../common

.PHONY: all clean
all: build/slow build/fixed

OBJECTS := build/main.o $(COMMON:%=build/%.o)

build/slow: $(OBJECTS) build/slow-$(SUBJECT).o
build/fixed: $(OBJECTS) build/fixed-$(SUBJECT).o
build/slow build/fixed:
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

build/%.o: common/%.c common/$(SUBJECT).h | build
	$(CC) $(CPPFLAGS) $(WARNINGS) $(CFLAGS) -c -o $@ $<
build/%.o: ../common/%.c ../common/%.h | build
	$(CC) $(CPPFLAGS) $(WARNINGS) $(CFLAGS) -c -o $@ $<
build/slow-%.o: slow/%.c common/$(SUBJECT).h | build
	$(CC) $(CPPFLAGS) $(WARNINGS) $(CFLAGS) -c -o $@ $<
build/fixed-%.o: fixed/%.c common/$(SUBJECT).h | build
	$(CC) $(CPPFLAGS) $(WARNINGS) $(CFLAGS) -c -o $@ $<

build:
	mkdir -p $@

clean:
	rm -rf build
