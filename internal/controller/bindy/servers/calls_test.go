package servers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/bindcar"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

func podsIn(namespace string, n int) []corev1.Pod {
	out := make([]corev1.Pod, n)
	for i := range out {
		out[i].Namespace, out[i].UID = namespace, types.UID(namespace+string(rune('a'+i)))
	}
	return out
}

func hangs(ctx context.Context, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestSidecarsThatHangTakeLittleTimeOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Servers
		began := time.Now()
		for range objectsAtOnce {
			go s.Each(t.Context(), began, podsIn("bad", 3*sidecarsAtOnce), hangs)
		}
		synctest.Wait()
		errs := s.Each(t.Context(), began, podsIn("bad", 1), func(context.Context, int) error { return nil })
		if !errors.Is(errs[0], errBusy) || time.Since(began) > objectWait {
			t.Errorf("one more of the namespace came to %v after %s", errs[0], time.Since(began))
		}
		before := time.Now()
		if errs := s.Each(t.Context(), before, podsIn("good", 1),
			func(context.Context, int) error { return nil }); errs[0] != nil || time.Now() != before {
			t.Errorf("one of another namespace came to %v after %s", errs[0], time.Since(before))
		}
		<-time.After(CallTime - time.Since(began) + time.Millisecond)
		synctest.Wait()
		var called atomic.Bool
		s.Each(t.Context(), began, podsIn("bad", 3*sidecarsAtOnce), func(context.Context, int) error {
			called.Store(true)
			return nil
		})
		if !called.Load() || time.Since(began) > CallTime+time.Second {
			t.Error("those that were not called in the time of one call are not called later either")
		}
		k, unlock := s.calls.Lock()
		defer unlock()
		if len(k.places) > 0 {
			t.Errorf("%d namespaces are known whose sidecars nobody calls", len(k.places))
		}
	})
}

func TestSidecarsThatHangAreCalledLessAndLessOften(t *testing.T) {
	s := New(Config{Log: slog.New(slog.DiscardHandler), Clock: time.Now})
	pods, now := podsIn("n", 1), time.Now()
	call := func(err error) (called bool, got error) {
		errs := s.Each(t.Context(), now, pods, func(context.Context, int) error { called = true; return err })
		return called, errs[0]
	}
	var before time.Duration
	for range 12 {
		if called, _ := call(context.DeadlineExceeded); !called {
			t.Fatal("it is not called when it is due")
		}
		pause := s.calls.pause(&pods[0], now)
		if pause < before || pause > CallTime+mostPause {
			t.Errorf("after %s, it is called in %s", before, pause)
		}
		now, before = now.Add(pause-time.Millisecond), pause
		if called, err := call(nil); called || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before that, it is called: %v, %v", called, err)
		}
		now = now.Add(time.Millisecond)
	}
	if before != CallTime+mostPause {
		t.Errorf("at last it is called every %s", before)
	}
	call(context.DeadlineExceeded)
	pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: dialect.BindcarContainer, RestartCount: 1}}
	if called, _ := call(bindcar.ErrUnauthorized); !called {
		t.Error("it was started again, and is not called")
	}
	if called, _ := call(nil); !called {
		t.Error("one that answers, whatever it says, is not called")
	}
	if after, troubles := s.Failing(&pods[0], errBusy, now); len(troubles) > 0 || after <= 0 {
		t.Errorf("one whose turn it is not is complained about: %v, %s", troubles, after)
	}
}

func TestFewSidecarsAreCalledAtOnce(t *testing.T) {
	var s Servers
	inside := make(chan struct{}, sidecarsAtOnce)
	errs := s.Each(t.Context(), time.Now(), make([]corev1.Pod, 5*sidecarsAtOnce), func(ctx context.Context, i int) error {
		select {
		case inside <- struct{}{}:
		default:
			return errors.New("there are too many")
		}
		<-inside
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func TestWhereASidecarIs(t *testing.T) {
	s := New(Config{Token: func(context.Context, string) (string, error) { return "a token", nil }})
	p := &corev1.Pod{
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: dialect.NamedContainer, Ports: []corev1.ContainerPort{{ContainerPort: 5353}}},
			{Name: dialect.BindcarContainer, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8081}}},
		}},
		Status: corev1.PodStatus{PodIP: "2001:db8::1"},
	}
	c, err := s.Sidecar(t.Context(), p)
	if err != nil || c.BaseURL != "http://[2001:db8::1]:8081" {
		t.Errorf("it is at %+v, %v", c, err)
	}
}
