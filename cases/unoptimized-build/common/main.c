// Draws a map of heights and writes it as a PNG file to the standard output, with the library stb.
#define STB_PERLIN_IMPLEMENTATION
#include <stb/stb_perlin.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 960, HEIGHT = 720, OCTAVES = 6 };

static void draw(unsigned char *pixels)
{
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			float height = stb_perlin_fbm_noise3(x / 64.0f, y / 64.0f, 0.5f, 2.0f, 0.5f, OCTAVES);
			float level = 128 + 100 * height;
			pixels[y * WIDTH + x] = level < 0 ? 0 : level > 255 ? 255 : (unsigned char)level;
		}
}

static void put(void *unused, void *data, int size)
{
	(void)unused;
	if (fwrite(data, 1, (size_t)size, stdout) != (size_t)size) {
		perror("write the picture");
		exit(1);
	}
}

int main(void)
{
	unsigned char *pixels = malloc(WIDTH * HEIGHT);
	if (!pixels) {
		perror("make room for the picture");
		return 1;
	}
	draw(pixels);
	if (!stbi_write_png_to_func(put, NULL, WIDTH, HEIGHT, 1, pixels, WIDTH)) {
		fprintf(stderr, "the picture cannot be compressed\n");
		return 1;
	}
	free(pixels);
	return 0;
}
