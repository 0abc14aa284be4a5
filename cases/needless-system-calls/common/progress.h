// Shows how much of a compressed file was read: what the two versions do differently.
#pragma once
#include <zlib.h>

// Called for each line of `length` bytes. Returns the percentage of the file's `size` bytes that was read, at most 100.
int show_progress(gzFile file, long size, long length);
