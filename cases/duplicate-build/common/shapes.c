/* Reads a picture of one pixel from memory, and tells its colour. */
#include <stdio.h>
#include <stb/stb_image.h>

int main(void)
{
    static const unsigned char picture[] = "P6 1 1 255\n\x10\x20\x30";
    int width, height, parts;
    unsigned char *pixels = stbi_load_from_memory(picture, sizeof picture - 1, &width, &height, &parts, 3);

    if (!pixels) {
        fprintf(stderr, "shapes: the picture cannot be read: %s\n", stbi_failure_reason());
        return 1;
    }
    printf("%d x %d: %d %d %d\n", width, height, pixels[0], pixels[1], pixels[2]);
    stbi_image_free(pixels);
    return 0;
}
