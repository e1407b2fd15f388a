//go:build functional

package sarama

// Stands in for the environment of sarama's functional tests: a single node without proxies.

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	FunctionalTestEnv = &testEnvironment{
		KafkaBrokerAddrs: []string{os.Getenv("OTTLA_BOOTSTRAP")},
		KafkaVersion:     os.Getenv("KAFKA_VERSION"),
		UsingExisting:    true,
	}
	os.Exit(m.Run())
}

func setupFunctionalTest(t testing.TB) {}

func teardownFunctionalTest(t testing.TB) {}
