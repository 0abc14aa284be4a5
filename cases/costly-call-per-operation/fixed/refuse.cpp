// A refusal is expected: the reason is enough.
#include "refuse.h"

void refuse(Refusal &refusal, const char *reason)
{
	refusal.reason = reason;
	refusal.stack.clear();
}
