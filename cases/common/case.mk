# Rules of a case in C or C++. Builds build/slow and build/fixed of common/main.c or .cpp, files of cases/common (COMMON), and $(SUBJECT).c or .cpp, in
# which the two versions differ. Its interface is common/$(SUBJECT).h, or $(INTERFACE).

CC ?= cc
CXX ?= c++
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Werror
CPPFLAGS += -Icommon -I../common
INTERFACE ?= common/$(SUBJECT).h

COMPILE_C = $(CC) $(CPPFLAGS) -std=gnu17 $(WARNINGS) $(CFLAGS) -c -o $@ $<
COMPILE_CXX = $(CXX) $(CPPFLAGS) -std=c++17 $(WARNINGS) $(CXXFLAGS) -c -o $@ $<
LINK = $(if $(wildcard common/main.cpp),$(CXX) $(CXXFLAGS),$(CC) $(CFLAGS))

.PHONY: all clean
all: build/slow build/fixed

OBJECTS := build/main.o $(COMMON:%=build/%.o)

build/slow: $(OBJECTS) build/slow-$(SUBJECT).o
build/fixed: $(OBJECTS) build/fixed-$(SUBJECT).o
build/slow build/fixed:
	$(LINK) $(LDFLAGS) -o $@ $^ $(LDLIBS)

build/%.o: common/%.c $(INTERFACE) | build
	$(COMPILE_C)
build/%.o: common/%.cpp $(INTERFACE) | build
	$(COMPILE_CXX)
build/%.o: ../common/%.c ../common/%.h | build
	$(COMPILE_C)
build/slow-%.o: slow/%.c $(INTERFACE) | build
	$(COMPILE_C)
build/slow-%.o: slow/%.cpp $(INTERFACE) | build
	$(COMPILE_CXX)
build/fixed-%.o: fixed/%.c $(INTERFACE) | build
	$(COMPILE_C)
build/fixed-%.o: fixed/%.cpp $(INTERFACE) | build
	$(COMPILE_CXX)

build:
	mkdir -p $@

clean:
	rm -rf build
