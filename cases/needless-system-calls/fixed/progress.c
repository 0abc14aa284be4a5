// Asks for the position after so much text that it may have changed.
#include "progress.h"

enum { STEP = 65536 };

int show_progress(gzFile file, long size, long length)
{
	static int percent;
	static long since = STEP;
	since += length;
	if (since >= STEP) {
		since = 0;
		percent = (int)(gzoffset(file) * 100 / size);
	}
	return percent;
}
