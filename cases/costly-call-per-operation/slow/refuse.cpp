// Records where the value was refused.
#include "refuse.h"
#include <execinfo.h>

void refuse(Refusal &refusal, const char *reason)
{
	void *stack[32];
	int frames = backtrace(stack, 32);
	refusal.reason = reason;
	refusal.stack.assign(stack, stack + frames);
}
