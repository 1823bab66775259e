package core

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/zone"
)

// Names of spans. A change lasts from when the operator saw an object until every server has what it asks for, or until
// it is refused; below it are the step of the World that took it in, and each call that brings it to a server.
const (
	SpanChange = "change"
	SpanSettle = "settle"
	SpanApply  = "apply"
)

// mostLinks bounds the links of one call to the changes that it brings.
const mostLinks = 32

// A Follower begins the spans of changes, in one goroutine, and of the calls that bring them to servers.
type Follower struct {
	Tracer trace.Tracer // nil: nobody is followed

	versions map[zone.ID]Version // so that what is put again, such as with another status, is no change
}

// Begin returns the span of a change that a step took in; nil: it is none, or nobody follows it.
func (f *Follower) Begin(s Settlement, o Input, now time.Time) trace.Span {
	last, known := f.versions[o.ID]
	if f.Tracer == nil || known && last == o.Version || o.Gone() && !known {
		return nil
	}
	if f.versions == nil {
		f.versions = map[zone.ID]Version{}
	}
	f.versions[o.ID] = o.Version
	if o.Gone() {
		delete(f.versions, o.ID)
	}
	verdict, _ := s.View.Verdict(o.ID)
	span := f.Change(o.ID, o.Seen, attribute.String("zonefold.verdict", string(verdict.Reason)), attribute.Bool(
		"zonefold.deleted", o.Gone()))
	f.Settled(span, s.At, now, attribute.Int("zonefold.objects", len(s.Inputs)))
	return span
}

// Change begins the span of a change of an object; nil: nobody follows it.
func (f *Follower) Change(id zone.ID, seen time.Time, about ...attribute.KeyValue) trace.Span {
	if f.Tracer == nil {
		return nil
	}
	_, span := f.Tracer.Start(context.Background(), SpanChange, trace.WithTimestamp(seen), trace.WithAttributes(
		attribute.String("k8s.object.kind", id.Kind), attribute.String("k8s.namespace.name", id.Namespace), attribute.String(
			"k8s.object.name", id.Name)),
		trace.WithAttributes(about...))
	if !span.IsRecording() {
		return nil
	}
	return span
}

// Settled tells of the step that took a change in, if anybody follows that.
func (f *Follower) Settled(change trace.Span, from, until time.Time, about ...attribute.KeyValue) {
	if change == nil {
		return
	}
	_, settle := f.Tracer.Start(trace.ContextWithSpan(context.Background(), change), SpanSettle, trace.WithTimestamp(from),
		trace.WithAttributes(about...))
	settle.End(trace.WithTimestamp(until))
}

// Call begins the span of a call that brings changes to a server: a part of the first of them, with links to the
// others. What it returns ends it. Where nobody follows any of them, there is none.
func (f *Follower) Call(ctx context.Context, now func() time.Time, changes []trace.Span,
	about ...attribute.KeyValue) (context.Context, func(error, ...attribute.KeyValue)) {
	if f.Tracer == nil || len(changes) == 0 {
		return ctx, func(error, ...attribute.KeyValue) {}
	}
	var links []trace.Link
	for _, other := range changes[1:min(len(changes), 1+mostLinks)] {
		links = append(links, trace.Link{SpanContext: other.SpanContext()})
	}
	ctx, span := f.Tracer.Start(trace.ContextWithSpan(ctx, changes[0]), SpanApply,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithLinks(links...),
		trace.WithTimestamp(now()), trace.WithAttributes(about...))
	return ctx, func(err error, result ...attribute.KeyValue) {
		span.SetAttributes(result...)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End(trace.WithTimestamp(now()))
	}
}
