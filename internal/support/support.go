package support

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/rest"
)

// Options say what to gather, and with whose rights.
type Options struct {
	API       rest.Interface
	Namespace string // to look into where not all may be seen
	Operator  string // the namespace of the operator
	Version   string // of the command
	Now       time.Time
	MaxBytes  int64  // of all files, before they are compressed
	Key       []byte // of the hashes in the place of the records' data; nil: the data stays
	Doctor    func(ctx context.Context, out io.Writer) error
	Begin     func(stage string)
}

// A Summary says what became of a bundle.
type Summary struct {
	Files   int
	Missing []string // sentences on what is not in it
}

// A gatherer gathers.
type gatherer struct {
	Options
	bundle
	redact redactor
}

// Write gathers a bundle and writes it, as tar.gz. What may not be read is missing in it, and no error.
func Write(ctx context.Context, out io.Writer, o Options) (*Summary, error) {
	g := &gatherer{Options: o, bundle: bundle{room: o.MaxBytes}, redact: redactor{o.Key, map[string]string{}}}
	for _, part := range []struct {
		stage  string
		gather func(context.Context) error
	}{
		{"versions", g.versions}, {"what doctor finds", g.doctor}, {"the operator", g.operator}, {"events", g.events},
		{"objects", g.objects},
	} {
		o.Begin("gathering " + part.stage)
		if err := part.gather(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("gathering %s: %w", part.stage, ctx.Err())
			}
			g.lacks(part.stage, err)
		}
	}
	about := contents{Version: o.Version, Time: o.Now.UTC().Format(time.RFC3339), Redact: o.Key != nil}
	if err := g.write(out, about, o.Now, g.redact.replacer()); err != nil {
		return nil, err
	}
	return &Summary{len(g.files) + 1, g.missing}, nil
}

// limitedText is a text that grows to a limit, and forgets the rest.
type limitedText struct {
	text []byte
	max  int64
	cut  bool
}

// Write implements io.Writer.
func (l *limitedText) Write(p []byte) (int, error) {
	room := l.max - int64(len(l.text))
	if int64(len(p)) > room {
		l.cut = true
		l.text = append(l.text, p[:max(0, room)]...)
	} else {
		l.text = append(l.text, p...)
	}
	return len(p), nil
}

// doctor has the findings of zonefold doctor.
func (g *gatherer) doctor(ctx context.Context) error {
	text := &limitedText{max: maxPart}
	if err := g.Doctor(ctx, text); err != nil {
		return err
	}
	if text.cut {
		return fmt.Errorf("its findings have more than %d octets", maxPart)
	}
	return g.add("doctor.json", string(text.text))
}

// maxPart is how large one log, one list of metrics, the events, or one answer of the API server may be, in octets.
const maxPart = 8 << 20
