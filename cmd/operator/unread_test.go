package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
)

// TestWhatStaysRefusedIsTold: an API server that starts refuses everything for a moment.
func TestWhatStaysRefusedIsTold(t *testing.T) {
	type refused struct {
		at     int // in seconds
		goType string
		read   bool // it is not refused any more
	}
	const services = "*v1.Service"
	at := func(second int) refused { return refused{second, services, false} }
	for sentence, c := range map[string]struct {
		when []refused
		told []string
		last float64 // how many are counted at the last of these times
	}{
		"a moment":                     {[]refused{at(0), at(4)}, nil, 0},
		"a right that is gone":         {[]refused{at(0), at(2), at(5)}, []string{"Service"}, 1},
		"two moments":                  {[]refused{at(0), at(600), at(604)}, nil, 0},
		"two moments, read in between": {[]refused{at(0), {1, services, true}, at(6)}, nil, 0},
		"two kinds, one of a moment":   {[]refused{{0, "*v1.Ingress", false}, at(0), at(6)}, []string{"Service"}, 1},
		"a right that came back":       {[]refused{at(0), at(6), {7, services, true}}, []string{"Service"}, 0},
		"a reader that has ended":      {[]refused{at(0), at(6), {200, "*v1.Ingress", false}}, []string{"Service"}, 0},
	} {
		now := time.Unix(1e9, 0)
		var o options
		o.sources.names = []string{"ingress", "service"}
		recorder := events.NewFakeRecorder(10)
		var passed int
		u := newUnread(o, func() time.Time { return now.Add(time.Duration(passed) * time.Second) })
		u.events = recorder
		for _, one := range c.when {
			passed = one.at
			if one.read {
				u.tell(one.goType, nil)
				continue
			}
			u.tell(one.goType, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no")))
		}
		if n := u.kinds(); n != c.last {
			t.Errorf("%s: %v kinds are counted, not %v", sentence, n, c.last)
		}
		close(recorder.Events)
		var told []string
		for event := range recorder.Events {
			_, after, _ := strings.Cut(event, "Objects of kind ")
			kind, _, _ := strings.Cut(after, ",")
			told = append(told, kind)
		}
		if !slices.Equal(told, c.told) {
			t.Errorf("%s: told of %q, not of %q", sentence, told, c.told)
		}
	}
}
