// Sends the readings of meters to Kafka, a batch for each hour of a meter. Usage: program FILE
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/Shopify/sarama"
)

const topic = "readings"

// complaints are what the mock says when it fails.
type complaints struct{}

func (complaints) Error(args ...interface{})                 { log.Print(args...) }
func (complaints) Errorf(format string, args ...interface{}) { log.Printf(format, args...) }
func (complaints) Fatal(args ...interface{})                 { log.Fatal(args...) }
func (complaints) Fatalf(format string, args ...interface{}) { log.Fatalf(format, args...) }

func connect() (sarama.SyncProducer, func(), error) {
	broker := sarama.NewMockBroker(complaints{}, 1)
	broker.SetHandlerByMap(map[string]sarama.MockResponse{
		"MetadataRequest": sarama.NewMockMetadataResponse(complaints{}).SetBroker(broker.Addr(), broker.BrokerID()).SetLeader(topic, 0, broker.BrokerID()),
		"ProduceRequest":  sarama.NewMockProduceResponse(complaints{}).SetVersion(3),
	})
	config := sarama.NewConfig()
	config.Version = sarama.V0_11_0_0
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForLocal
	config.Producer.Compression = sarama.CompressionGZIP
	config.Producer.CompressionLevel = 6
	producer, err := sarama.NewSyncProducer([]string{broker.Addr()}, config)
	return producer, broker.Close, err
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	producer, stop, err := connect()
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	meter, batches, bytes := "", 0, 0
	var batch []*sarama.ProducerMessage
	send := func() {
		if len(batch) == 0 {
			return
		}
		if err := producer.SendMessages(batch); err != nil {
			log.Fatal(err)
		}
		batches++
		batch = nil
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		name, reading, _ := strings.Cut(line, ";")
		if name != meter {
			send()
			meter = name
		}
		bytes += len(reading)
		batch = append(batch, &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder(name), Value: sarama.StringEncoder(reading)})
	}
	send()
	if err := producer.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d batches, %d bytes of readings\n", batches, bytes)
}
