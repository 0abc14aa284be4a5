/* stb's decoder of pictures, as a library of its own. */
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
