// Begins with a new map of no more buckets than the message needs.
#include "forget.h"

void forget(Counts &counts)
{
	counts = Counts();
}
