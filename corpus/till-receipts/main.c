/* Sends the receipts of a till to Kafka, each as a message for every line of it. Usage: program FILE
   A receipt is a block of lines; an empty line ends it. The till goes on when the receipt is delivered. */
#include <rdkafka.h>
#include <stdio.h>
#include <string.h>

static size_t delivered, bytes;

static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    (void)producer, (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fprintf(stderr, "not delivered: %s\n", rd_kafka_err2str(message->err));
        return;
    }
    delivered++;
    bytes += message->len;
}

static rd_kafka_t *connect_till(void) {
    static const char *const settings[][2] = {{"test.mock.num.brokers", "1"}, {"linger.ms", "100"}, {"acks", "all"}, {"log_level", "3"}};
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t index = 0; index < sizeof settings / sizeof settings[0]; index++) {
        if (rd_kafka_conf_set(conf, settings[index][0], settings[index][1], error, sizeof error) != RD_KAFKA_CONF_OK) {
            fprintf(stderr, "%s\n", error);
            return NULL;
        }
    }
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (producer == NULL) fprintf(stderr, "%s\n", error);
    return producer;
}

static int send_receipt(rd_kafka_t *producer, int number, char lines[][160], int count) {
    size_t before = delivered;
    for (int line = 0; line < count; line++) {
        rd_kafka_resp_err_t error = rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("receipts"), RD_KAFKA_V_KEY("till-4", 6),
            RD_KAFKA_V_VALUE(lines[line], strlen(lines[line])), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return -1;
    }
    if (rd_kafka_flush(producer, 10000) != RD_KAFKA_RESP_ERR_NO_ERROR) return -1;
    printf("receipt %d: %zu of %d lines delivered\n", number, delivered - before, count);
    return 0;
}

int main(int argc, char **argv) {
    char lines[64][160];
    int count = 0, number = 0, failed = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    rd_kafka_t *producer = file != NULL ? connect_till() : NULL;
    if (producer == NULL) return 1;
    while (!failed && count < 64 && fgets(lines[count], sizeof lines[count], file) != NULL) {
        lines[count][strcspn(lines[count], "\n")] = 0;
        if (lines[count][0] != 0) {
            count++;
            continue;
        }
        failed = send_receipt(producer, ++number, lines, count) != 0;
        count = 0;
    }
    fclose(file);
    printf("%d receipts, %zu lines, %zu bytes\n", number, delivered, bytes);
    rd_kafka_destroy(producer);
    return failed;
}
