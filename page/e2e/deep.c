/* A program that computes 30,000 calls deep. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned work(unsigned times) {
  volatile unsigned sum = times;
  for (unsigned i = 0; i < times; i++) sum += i;
  return sum;
}

__attribute__((noinline)) static unsigned down(unsigned depth) {
  unsigned own = depth == 0 ? work(200000000) : down(depth - 1);
  __asm__ volatile("" : "+r"(own)); /* the call is no jump */
  return own + depth;
}

int main(void) {
  printf("%u\n", down(30000));
  return 0;
}
