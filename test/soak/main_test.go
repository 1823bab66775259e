// Package soak_test runs a fleet of BIND on a real node while everything that it consists of is killed at random,
// records change and clients ask. It has a cluster of its own: an API server that is killed disturbs everybody else.
package soak_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testcluster/images"
)

var (
	lasting = flag.Duration("for", time.Minute, "for how long things are killed")
	seed    = flag.Uint64("seed", 0, "what decides what is killed and what changes; 0: another one each time")
	only    = flag.String("kills", "",
		"the kinds of kills, with commas between them, to find out which one does it; none: all but kubelet")
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	flag.Parse()
	archives, err := images.Archives(context.Background(), os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	os.Exit(testcluster.MainWith(m, testcluster.Options{Node: true, Images: archives}))
}
