/* stb's rasterizer of fonts, as a library of its own. */
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>
