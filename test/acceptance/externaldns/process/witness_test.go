package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A witness asks a name server all the time and knows what has to be answered.
type witness struct {
	server string
	want   []answered // nothing but this is right
	stop   func()
	mu     sync.Mutex
	asked  int
	wrong  []string // at most maxWrong
}

// An answered question, such as "www.example.org. A", has a code and data, "TTL data" each.
type answered struct {
	question string
	code     string
	data     []string
}

const (
	askers   = 2 // at the same time: the machine has other work, too
	maxWrong = 10
)

// watch has questions asked in random order until w.end.
func watch(t *testing.T, server string, want []answered) *witness {
	ctx, cancel := context.WithCancel(t.Context())
	w := &witness{server: server, want: want}
	var all sync.WaitGroup
	for seed := range uint64(askers) {
		all.Go(func() { w.ask(ctx, rand.New(rand.NewPCG(seed, seed))) })
	}
	w.stop = func() { cancel(); all.Wait() }
	t.Cleanup(w.stop)
	return w
}

func (w *witness) ask(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		for _, i := range random.Perm(len(w.want)) {
			wrong := w.want[i].check(ctx, w.server)
			if ctx.Err() != nil {
				return
			}
			w.note(wrong)
		}
	}
}

func (w *witness) note(wrong string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if wrong != "" && len(w.wrong) < maxWrong {
		w.wrong = append(w.wrong, time.Now().Format(time.TimeOnly)+" "+wrong)
	}
}

// saw returns how many questions were answered, and fails if an answer was wrong.
func (w *witness) saw(t *testing.T, meanwhile string) int {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) > 0 {
		t.Fatalf("%s: %d questions were asked, and answered wrongly\n%s", meanwhile, w.asked, strings.Join(w.wrong, "\n"))
	}
	t.Logf("%s: %d answers were right", meanwhile, w.asked)
	return w.asked
}

// check asks a question, and says what is wrong with the answer.
func (a *answered) check(ctx context.Context, server string) string {
	name, kind, _ := strings.Cut(a.question, " ")
	client := dns.Client{Timeout: 10 * time.Second}
	got, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name, dns.StringToType[kind]), server)
	if err != nil {
		return fmt.Sprintf("%s: %v", a.question, err)
	}
	var data []string
	for _, r := range got.Answer {
		data = append(data, fmt.Sprintf("%d %s", r.Header().Ttl, strings.TrimPrefix(r.String(), r.Header().String())))
	}
	slices.Sort(data)
	if code := dns.RcodeToString[got.Rcode]; code != a.code || !slices.Equal(data, a.data) {
		return fmt.Sprintf("%s: %s %q, not %s %q", a.question, code, data, a.code, a.data)
	}
	return ""
}
