package kubizone

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
)

func TestWhatSettlesByItselfIsNotWorthAWrite(t *testing.T) {
	type look struct {
		after      time.Duration // the look before
		reason     string
		generation int64
		soon       bool // the write waits
	}
	for _, c := range []struct {
		name  string
		looks []look
	}{
		{"what is served is told at once", []look{{0, controller.ReasonServed, 1, false}}},
		{"what a server does not answer to is told at once", []look{{0, controller.ReasonUnavailable, 1, false}}},
		{"what is on its way is not told before the grace is over", []look{
			{0, controller.ReasonPending, 1, true}, {grace / 2, controller.ReasonPending, 1, true},
			{grace / 2, controller.ReasonPending, 1, false},
		}},
		{"a refusal that passes within the grace is never told", []look{
			{0, controller.ReasonRejected, 1, true}, {grace / 2, controller.ReasonServed, 1, false},
		}},
		{"a refusal that lasts is told", []look{{0, controller.ReasonRejected, 1, true},
			{grace, controller.ReasonRejected, 1, false}}},
		{"a refusal after a long time on the way has a grace of its own", []look{
			{0, controller.ReasonPending, 1, true}, {grace, controller.ReasonPending, 1, false},
			{0, controller.ReasonRejected, 1, true},
		}},
		{"a new generation has a grace of its own", []look{
			{0, controller.ReasonPending, 1, true}, {grace, controller.ReasonPending, 2, true},
			{grace, controller.ReasonPending, 2, false},
		}},
		{"a refusal that was told and comes back within the grace waits again", []look{
			{0, controller.ReasonRejected, 1, true}, {grace, controller.ReasonRejected, 1, false},
			{time.Second, controller.ReasonServed, 1, false}, {time.Second, controller.ReasonRejected, 1, true},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &stopped{now: time.Unix(1, 0)}
			states := &objectStates{clock: clock.Now}
			for i, l := range c.looks {
				clock.now = clock.now.Add(l.after)
				if got := states.soon(dialect.RecordID("a", "www"), controller.Not(l.reason, ""), l.generation); got != l.soon {
					t.Errorf("look %d: it waits: %v, want %v", i, got, l.soon)
				}
			}
		})
	}
}

// stopped is a clock that only a test moves.
type stopped struct {
	backend.SystemClock
	now time.Time
}

func (s *stopped) Now() time.Time { return s.now }

func TestWhatConcernsAZoneMakesNoEventOfEachRecord(t *testing.T) {
	record, all := &v1alpha1.Record{}, &v1alpha1.Zone{}
	served := controller.OK(controller.ReasonServed, "Every server has it.")
	noBackend := controller.Not(controller.ReasonNoBackend, "There is none.")
	rejected := controller.Not(controller.ReasonRejected, "It is refused.")
	for _, c := range []struct {
		sentence      string
		of            object
		before, after controller.Outcome
		want          string
	}{
		{"a Record that its server refuses", record, served, rejected, "Warning Rejected It is refused."},
		{"a Record that is taken after all", record, rejected, served, "Normal Served Every server has it."},
		{"a Record of a Zone without a Backend", record, served, noBackend, ""},
		{"a Record of a Zone that has one again", record, noBackend, served, ""},
		{"a Zone without a Backend", all, served, noBackend, "Warning NoBackend There is none."},
		{"a Zone that has one again", all, noBackend, served, "Normal Served Every server has it."},
	} {
		conditions := func(o controller.Outcome) []metav1.Condition {
			list := controller.Conditions{Now: time.Unix(1, 0)}
			list.Set(controller.ConditionServed, o)
			return list.List()
		}
		recorder := events.NewFakeRecorder(2)
		recordEvents(recorder, c.of, conditions(c.before), conditions(c.after))
		close(recorder.Events)
		if got := <-recorder.Events; got != c.want {
			t.Errorf("%s: the event is %q, want %q", c.sentence, got, c.want)
		}
	}
}
