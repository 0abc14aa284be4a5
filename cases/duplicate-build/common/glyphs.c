/* Asks how many fonts there are in a file that is none. */
#include <stdio.h>
#include <stb/stb_truetype.h>

int main(void)
{
    static const unsigned char file[] = "no font";

    printf("%d fonts\n", stbtt_GetNumberOfFonts(file));
    return 0;
}
