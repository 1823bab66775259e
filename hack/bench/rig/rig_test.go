package rig

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

type counting struct {
	Options
	n int
}

func (c *counting) Flags(f *flag.FlagSet) { f.IntVar(&c.n, "n", 1, "how many") }

func (c *counting) Check() (need string, ok bool) { return "a number above 0", c.n > 0 }

func (c *counting) Run(context.Context, *Rig, io.Writer) error { return nil }

func TestFlagsAreReadAndChecked(t *testing.T) {
	for args, want := range map[string]string{
		"":                "",
		"-n 2 -workers 3": "",
		"-n 0":            "flags need a number above 0, and there are no arguments; see -help",
		"-workers 0":      "flags need a number above 0, and there are no arguments; see -help",
		"-n 2 more":       "flags need a number above 0, and there are no arguments; see -help",
		"-m":              "flag provided but not defined: -m",
	} {
		var c counting
		f := flag.NewFlagSet("counting", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		got := ""
		if err := parse(f, &c.Options, &c, strings.Fields(args)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

func TestWhatWasStartedLastEndsFirst(t *testing.T) {
	r, err := newRig(&Options{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var ended []string
	for _, name := range []string{"a", "b"} {
		r.AtEnd(func() { ended = append(ended, name) })
	}
	if err := r.close(); err != nil || !slices.Equal(ended, []string{"b", "a"}) {
		t.Errorf("got %v, %v", ended, err)
	}
	if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestAnAskerWaitsForWhatAWriteChanges(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	address <- "192.0.2.1"
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		at := <-address
		address <- at
		answer := new(dns.Msg).SetReply(m)
		record, _ := dns.NewRR(m.Question[0].Name + " 300 IN A " + at)
		answer.Answer = []dns.RR{record}
		_ = w.WriteMsg(answer)
	})}
	go func() { _ = server.ActivateAndServe() }()
	defer func() { _ = conn.Close() }()
	asker, err := NewAsker("a server", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	write := func(context.Context) error {
		<-address
		time.AfterFunc(20*time.Millisecond, func() { address <- "192.0.2.2" })
		return nil
	}
	took, err := asker.Time(t.Context(), 1, 0, func(int) Change { return Change{"www.example.", "192.0.2.2", write} })
	if err != nil || len(took) != 1 || took[0] < 20*time.Millisecond {
		t.Errorf("got %v, %v", took, err)
	}
}

func TestAZoneOfBINDIsFilledChangedAndEmptied(t *testing.T) {
	r, err := newRig(&Options{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.close() }()
	bind, err := r.StartBIND(t.Context(), "example.", Key{"key.", "hmac-sha256", "Ym90aCBhcmUgb24gbG9vcGJhY2s="})
	if err != nil {
		t.Fatal(err)
	}
	updater, err := bind.Updater()
	if err != nil {
		t.Fatal(err)
	}
	defer updater.Close()
	const n = most + 1
	name := func(i int) string { return fmt.Sprintf("n%d.example.", i) }
	missing := func(after string, want int) {
		t.Helper()
		if got, err := bind.Missing(t.Context(), n, name); err != nil || got != want {
			t.Errorf("after %s %d of %d names are missing (%v), want %d", after, got, n, err, want)
		}
	}
	addresses := map[string]string{}
	for i := range n {
		addresses[name(i)] = figures.Address(i)
	}
	if err := updater.Add("example.", addresses); err != nil {
		t.Fatal(err)
	}
	missing("they were added", 0)
	if err := updater.Change("example.", name(1), "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	missing("one has got another address", 1)
	if err := bind.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	missing("the zone was emptied", n)
	if err := updater.Change("example.org.", "www.example.org.", "192.0.2.1"); err == nil {
		t.Error("a change of a zone that BIND does not have was carried out")
	}
}

func TestWhatIsWrittenIsNoticedAmongOthers(t *testing.T) {
	events, refused := watch.NewFakeWithChanSize(3, false), errors.New("refused")
	write := func(context.Context) error {
		for _, name := range []string{"a", "b"} {
			events.Add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return refused
	}
	done, err := Notice(t.Context(), events, write, func(o *corev1.Secret) bool { return o.Name == "b" })
	if err != nil || !errors.Is(<-done, refused) {
		t.Errorf("got %v, or not what came of the write", err)
	}
	events.Stop()
	nothing := func(context.Context) error { return nil }
	if _, err := Notice(t.Context(), events, nothing, func(*corev1.Secret) bool { return true }); err == nil {
		t.Error("a watch that ended was waited for")
	}
}
