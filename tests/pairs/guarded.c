// Checks expressions, and leaves a wrong one by a long jump. `slow` saves the signal mask for each, `fixed` does not.
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf out;

static int depth(const char *text)
{
	int open = 0, deepest = 0;
	for (; *text; text++) {
		open += (*text == '(') - (*text == ')');
		if (open < 0)
			siglongjmp(out, 1);
		deepest = open > deepest ? open : deepest;
	}
	return deepest;
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed");
	const char *texts[] = { "(a + b) * (c - (d / 2))", "max(f(x), g(y)) + 1", "(a + b)) * c", "((((1 + 2) * 3) - 4) / 5)" };
	volatile long sum = 0, wrong = 0;
	for (volatile int i = 0; i < 1500000; i++) {
		if (sigsetjmp(out, !fixed))
			wrong++;
		else
			sum += depth(texts[i % 4]);
	}
	printf("%ld %ld\n", sum, wrong);
	return 0;
}
