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
	}
	const services = "*v1.Service"
	for sentence, c := range map[string]struct {
		when []refused
		told []string
	}{
		"a moment":                   {[]refused{{0, services}, {4, services}}, nil},
		"a right that is gone":       {[]refused{{0, services}, {2, services}, {5, services}}, []string{"Service"}},
		"two moments":                {[]refused{{0, services}, {600, services}, {604, services}}, nil},
		"two kinds, one of a moment": {[]refused{{0, "*v1.Ingress"}, {0, services}, {6, services}}, []string{"Service"}},
	} {
		now := time.Unix(1e9, 0)
		var o options
		o.sources.names = []string{"ingress", "service"}
		recorder := events.NewFakeRecorder(10)
		var at int
		u := newUnread(o, func() time.Time { return now.Add(time.Duration(at) * time.Second) })
		u.events = recorder
		for _, one := range c.when {
			at = one.at
			u.tell(one.goType, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no")))
		}
		close(recorder.Events)
		var told []string
		for event := range recorder.Events {
			_, after, _ := strings.Cut(event, "objects of the kind ")
			kind, _, _ := strings.Cut(after, " ")
			told = append(told, kind)
		}
		if !slices.Equal(told, c.told) {
			t.Errorf("%s: told of %q, not of %q", sentence, told, c.told)
		}
	}
}
