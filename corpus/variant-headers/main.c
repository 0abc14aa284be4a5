/* Says how many variants each chromosome has in VCF files, and how many commands made the file. Usage: program FILE... */
#include <htslib/hts.h>
#include <htslib/vcf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int commands_of(const bcf_hdr_t *header) {
    int commands = 0;
    for (int i = 0; i < header->nhrec; i++) {
        const bcf_hrec_t *line = header->hrec[i];
        commands += line->type == BCF_HL_GEN && strstr(line->key, "command") != NULL;
    }
    return commands;
}

static int report(const char *path) {
    htsFile *file = hts_open(path, "r");
    if (file == NULL) return -1;
    bcf_hdr_t *header = bcf_hdr_read(file);
    if (header == NULL) return -1;
    int chromosomes = header->n[BCF_DT_CTG];
    long *variants = calloc(chromosomes + 1, sizeof *variants);
    double *frequencies = calloc(chromosomes + 1, sizeof *frequencies);
    bcf1_t *variant = bcf_init();
    if (variants == NULL || frequencies == NULL || variant == NULL) return -1;
    float *frequency = NULL;
    int room = 0, result;
    while ((result = bcf_read(file, header, variant)) == 0) {
        variants[variant->rid]++;
        if (bcf_get_info_float(header, variant, "AF", &frequency, &room) > 0) frequencies[variant->rid] += frequency[0];
    }
    printf("%s: %d samples, %d commands\n", path, bcf_hdr_nsamples(header), commands_of(header));
    for (int i = 0; i < chromosomes; i++) {
        if (variants[i] > 0) printf("  %s: %ld variants, mean frequency %.4f\n", bcf_hdr_id2name(header, i), variants[i], frequencies[i] / variants[i]);
    }
    free(frequency);
    free(frequencies);
    free(variants);
    bcf_destroy(variant);
    bcf_hdr_destroy(header);
    hts_close(file);
    return result == -1 ? 0 : -1;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (report(argv[i]) != 0) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
    }
    return 0;
}
