/* localcontrast: local contrast enhancement of a grey scale photo (binary PGM)
 * with a guided filter on top of box means; writes the result next to it and
 * prints some statistics of the picture. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 64
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

typedef struct image_t
{
  int width, height;
  float *data;
} image_t;

typedef struct params_t
{
  int radius;
  float epsilon;
  float detail;
  float highlights;
  float shadows;
} params_t;

static float *alloc_floats(const size_t n)
{
  float *p = aligned_alloc(ALIGN, (n * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN);
  if(!p)
  {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return p;
}

/* ---- files ---------------------------------------------------------------- */

#define LUT_SIZE 16384
static float srgb_to_linear[256];
static uint8_t linear_to_srgb[LUT_SIZE];

static void init_tables(void)
{
  for(int i = 0; i < 256; i++)
  {
    const float v = i / 255.0f;
    srgb_to_linear[i] = v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
  }
  for(int i = 0, code = 0; i < LUT_SIZE; i++)
  {
    while(code < 255 && srgb_to_linear[code] < i / (float)(LUT_SIZE - 1)) code++;
    linear_to_srgb[i] = code;
  }
}

static bool read_pgm(const char *path, image_t *img)
{
  FILE *f = fopen(path, "rb");
  int maxval;
  if(!f) return false;
  if(fscanf(f, "P5 %d %d %d", &img->width, &img->height, &maxval) != 3 || maxval != 255)
  {
    fclose(f);
    return false;
  }
  fgetc(f);
  const size_t n = (size_t)img->width * img->height;
  uint8_t *raw = malloc(n);
  const bool ok = fread(raw, 1, n, f) == n;
  fclose(f);
  img->data = alloc_floats(n);
  for(size_t i = 0; ok && i < n; i++) img->data[i] = srgb_to_linear[raw[i]];
  free(raw);
  return ok;
}

static inline uint8_t to_srgb(const float v)
{
  return linear_to_srgb[(int)(v * (LUT_SIZE - 1) + 0.5f)];
}

static bool write_pgm(const char *path, const image_t *img, uint32_t *checksum)
{
  const size_t n = (size_t)img->width * img->height;
  uint8_t *raw = malloc(n);
  uint32_t a = 1, b = 0;
  for(size_t i = 0; i < n; i++)
  {
    raw[i] = to_srgb(img->data[i]);
    a = (a + raw[i]) % 65521;
    b = (b + a) % 65521;
  }
  *checksum = b << 16 | a;
  FILE *f = fopen(path, "wb");
  if(!f) return false;
  fprintf(f, "P5\n%d %d\n255\n", img->width, img->height);
  const bool ok = fwrite(raw, 1, n, f) == n;
  fclose(f);
  free(raw);
  return ok;
}

/* ---- box means ------------------------------------------------------------- */

/* running sum along one row; line is scratch space for it */
static void blur_horizontal(float *const buf, const int height, const int width, const int radius, float *const line)
{
  for(int y = 0; y < height; y++)
  {
    float *const row = buf + (size_t)y * width;
    float sum = 0.0f;
    int hits = 0;
    memcpy(line, row, width * sizeof(float));
    for(int x = 0; x < MIN(radius, width); x++)
    {
      sum += line[x];
      hits++;
    }
    for(int x = 0; x < width; x++)
    {
      if(x + radius < width)
      {
        sum += line[x + radius];
        hits++;
      }
      if(x - radius - 1 >= 0)
      {
        sum -= line[x - radius - 1];
        hits--;
      }
      row[x] = sum * (1.0f / hits);
    }
  }
}

/* columns that are worked on side by side: a cache line of them */
#define STRIPE 16

/* running sums down a stripe of n columns */
static inline __attribute__((always_inline)) void
blur_vertical_stripe(float *const column, const int height, const int width, const int radius,
                     float *const restrict scratch, const int n)
{
  float sum[STRIPE] = { 0.0f };
  int hits = 0;
  for(int y = 0; y < height; y++)
    memcpy(scratch + (size_t)y * n, column + (size_t)y * width, n * sizeof(float));
  for(int y = 0; y < MIN(radius, height); y++)
  {
    for(int i = 0; i < n; i++) sum[i] += scratch[(size_t)y * n + i];
    hits++;
  }
  for(int y = 0; y < height; y++)
  {
    if(y + radius < height)
    {
      for(int i = 0; i < n; i++) sum[i] += scratch[(size_t)(y + radius) * n + i];
      hits++;
    }
    if(y - radius - 1 >= 0)
    {
      for(int i = 0; i < n; i++) sum[i] -= scratch[(size_t)(y - radius - 1) * n + i];
      hits--;
    }
    const float norm = 1.0f / hits;
    float *const restrict out = column + (size_t)y * width;
    for(int i = 0; i < n; i++) out[i] = sum[i] * norm;
  }
}

static void blur_vertical(float *const buf, const int height, const int width, const int radius, float *const scratch)
{
  int x = 0;
  for(; x + STRIPE <= width; x += STRIPE)
    blur_vertical_stripe(buf + x, height, width, radius, scratch, STRIPE);
  if(x < width) blur_vertical_stripe(buf + x, height, width, radius, scratch, width - x);
}

static void box_mean(float *const buf, const int height, const int width, const int radius)
{
  float *const scratch = alloc_floats(MAX(width, height * STRIPE));
  blur_horizontal(buf, height, width, radius, scratch);
  blur_vertical(buf, height, width, radius, scratch);
  free(scratch);
}

/* ---- guided filter ------------------------------------------------------------ */

/* edge preserving base layer of the picture, guided by itself */
static void guided_filter(const image_t *const in, float *const base, const params_t *const p)
{
  const int w = in->width, h = in->height;
  const size_t n = (size_t)w * h;
  float *const mean = alloc_floats(n);
  float *const corr = alloc_floats(n);
  for(size_t i = 0; i < n; i++)
  {
    mean[i] = in->data[i];
    corr[i] = in->data[i] * in->data[i];
  }
  box_mean(mean, h, w, p->radius);
  box_mean(corr, h, w, p->radius);
  for(size_t i = 0; i < n; i++)
  {
    const float var = MAX(corr[i] - mean[i] * mean[i], 0.0f);
    const float a = var / (var + p->epsilon);
    corr[i] = a;
    mean[i] = mean[i] * (1.0f - a);
  }
  box_mean(corr, h, w, p->radius);
  box_mean(mean, h, w, p->radius);
  for(size_t i = 0; i < n; i++) base[i] = corr[i] * in->data[i] + mean[i];
  free(mean);
  free(corr);
}

/* ---- the module ------------------------------------------------------------------ */

static float tone(const float v, const params_t *const p)
{
  const float lum = log2f(MAX(v, 1e-4f));
  const float s = 1.0f / (1.0f + exp2f(1.5f * (lum + 2.5f)));
  return v * exp2f(p->shadows * s - p->highlights * (1.0f - s));
}

static void process(image_t *const img, const params_t *const p)
{
  const size_t n = (size_t)img->width * img->height;
  float *const base = alloc_floats(n);
  guided_filter(img, base, p);
  for(size_t i = 0; i < n; i++)
  {
    const float detail = img->data[i] - base[i];
    const float v = tone(base[i], p) + p->detail * detail;
    img->data[i] = MIN(MAX(v, 0.0f), 1.0f);
  }
  free(base);
}

static void print_statistics(const char *title, const image_t *const img)
{
  const size_t n = (size_t)img->width * img->height;
  size_t hist[16] = { 0 };
  double sum = 0.0;
  for(size_t i = 0; i < n; i++)
  {
    sum += img->data[i];
    hist[MIN((int)(img->data[i] * 16.0f), 15)]++;
  }
  printf("%s: %d x %d, mean %.4f\n", title, img->width, img->height, sum / n);
  for(int i = 0; i < 16; i++) printf("%9zu%s", hist[i], i % 8 == 7 ? "\n" : "");
}

int main(int argc, char **argv)
{
  const char *path = argc > 1 ? argv[1] : "photo.pgm";
  const params_t coarse = { 40, 0.01f, 1.4f, 0.35f, 0.5f };
  const params_t fine = { 9, 0.002f, 1.25f, 0.05f, 0.1f };
  image_t img = { 0 };
  uint32_t checksum;
  init_tables();
  if(!read_pgm(path, &img))
  {
    fprintf(stderr, "cannot read %s\n", path);
    return 1;
  }
  print_statistics("input", &img);
  process(&img, &coarse);
  process(&img, &fine);
  print_statistics("output", &img);
  if(!write_pgm("photo-out.pgm", &img, &checksum)) return 1;
  printf("checksum %08x\n", checksum);
  free(img.data);
  return 0;
}
