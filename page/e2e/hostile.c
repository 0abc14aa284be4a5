/* A program whose function names, thread name, source file, argument and files are markup and script, or steer a terminal, or turn
   text around: all of it is only ever text, and none of it is hidden. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "<b onmouseover=alert(4)>&\"'.txt"
#define TURNED "\033[2Jreport\u202etxt.exe\n\u200bsecond line"

int look_up(int number) __asm__("\"</script><script>alert(1)</script>\"");
int burn(int number) __asm__("\"<img src=x onerror=alert(2)>\"");
int turn(int number) __asm__("\"\033[31mturned\u202edniheb\u2066\u2069\"");

#line 1 "<svg onload=alert(3)>\033\u202e.c"
__attribute__((noinline)) int look_up(int number) {
  char text[64];
  int file = open(NAME, O_RDONLY);
  if (file < 0) return 1;
  ssize_t size = read(file, text, sizeof text);
  close(file);
  return number == (int)size;
}

__attribute__((noinline)) int burn(int number) {
  volatile int sum = number;
  for (int i = 0; i < 200000; i++) sum += i ^ number;
  return sum & 1;
}

__attribute__((noinline)) int turn(int number) {
  volatile int sum = number;
  for (int i = 0; i < 200000; i++) sum += i * number;
  close(open(TURNED, O_RDONLY | O_CREAT, 0600));
  return sum & 1;
}

int main(void) {
  pthread_setname_np(pthread_self(), "<u>\033\u202e&lt;th>");
  int file = open(NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, "text\n", 5) != 5) return 1;
  close(file);
  int sum = 0;
  for (int i = 0; i < 4000; i++) {
    sum += look_up(i);
    if (i % 8 == 0) sum += burn(i) + turn(i);
  }
  unlink(NAME);
  unlink(TURNED);
  return sum < 0;
}
