package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/cli/watch"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// A session is one run of serve.
type session struct {
	env     command.Env
	watcher *watch.Watcher
	reader  *manifest.Reader
	guard   *guard
	fold    *fold.Fold
	serving *serving
	console *consoleWorld // which shows the fold; nil: nobody looks

	failed  string          // why the input could not be read the last time; "" if it could
	said    map[string]bool // of files, as far as it still holds
	refused []refusal
}

// errNoZone says that the input has nothing that could be served.
var errNoZone = errors.New("the input has no Zone")

// begin reads the input for the first time. It has to be complete.
func (s *session) begin(in command.InputFlags) (*manifest.Input, error) {
	if len(in.Files) == 0 {
		return nil, command.ErrNothing
	}
	input, err := s.read()
	if err != nil && !errors.Is(err, errNoZone) {
		return nil, err
	}
	for _, p := range input.Problems {
		if p.Reason == manifest.Unreadable {
			return nil, errors.New(
				"a document could not be read, so zones would be incomplete; correct it, or leave its file out")
		}
	}
	if err != nil {
		return nil, fmt.Errorf(
			"%w, so there is nothing to serve; name files with Zones (*.yaml, *.yml, *.json) with -f", err)
	}
	return input, nil
}

// read reads the input after having made sure that no later change of it is missed, and tells what of it cannot be
// read. There is an input with errNoZone, too.
func (s *session) read() (*manifest.Input, error) {
	if err := s.watcher.Follow(); err != nil {
		return nil, err
	}
	input, err := s.reader.Read()
	if err != nil {
		return nil, err
	}
	s.remark(input)
	if !slices.ContainsFunc(input.Objects, func(o *manifest.Object) bool { return o.Kind == manifest.Zone }) {
		return input, errNoZone
	}
	return input, nil
}

// again takes over what changed. If nobody can tell what that is, nothing changes. What changes while it is read is
// told once more.
func (s *session) again(ctx context.Context) {
	input, err := s.read()
	if s.watcher.Again() {
		return
	}
	var changed news
	var refused []refusal
	if err == nil {
		changed, refused, err = s.take(ctx, input)
	}
	if err != nil {
		if why := err.Error(); why != s.failed {
			s.failed = why
			fmt.Fprintf(s.env.Stderr, "error: %s; everything is served as it was before.\n", plain.Line(why))
		}
		return
	}
	if s.failed != "" {
		s.failed = ""
		fmt.Fprintln(s.env.Stderr, "The input can be read again.")
	}
	s.tell(changed, refused)
}

// remark tells what cannot be read or is left out in files, once.
func (s *session) remark(input *manifest.Input) {
	now := map[string]bool{}
	say := func(p manifest.Problem, kind string) {
		text := fmt.Sprintf("%s: %s: %s", plain.Line(p.Place.String()), kind, plain.Line(p.Message))
		if !s.said[text] && !now[text] {
			fmt.Fprintln(s.env.Stderr, text)
		}
		now[text] = true
	}
	for _, p := range input.Problems {
		switch p.Reason {
		case manifest.Unreadable, manifest.NoObject, manifest.UnknownKind:
			say(p, "error")
		}
	}
	for _, p := range input.Ignored {
		say(p, "left out")
	}
	s.said = now
}

// take serves the input, and returns what became different.
func (s *session) take(ctx context.Context, input *manifest.Input) (changed news, refused []refusal, err error) {
	// DNSZones, DNSClasses and DNSRecords are for their own servers, and there may be several of one name.
	ours := slices.DeleteFunc(slices.Clone(input.Objects), func(o *manifest.Object) bool {
		return o.OfBindy() || o.Zoneless()
	})
	objects, kept, err := s.guard.pass(ctx, ours)
	if err != nil {
		return changed, nil, err
	}
	c, delta := s.compose(objects)
	return s.serving.apply(ctx, c, delta), append(kept, refusalsOf(c)...), nil
}

// compose makes the objects those of the fold.
func (s *session) compose(of []*manifest.Object) (*fold.Composition, zone.Delta) {
	if s.console == nil {
		return s.fold.Put(of)
	}
	return s.console.put(&command.Found{Input: &manifest.Input{Objects: of}, Namespace: s.console.flags.Namespace})
}

// tell prints what became different.
func (s *session) tell(changed news, refused []refusal) {
	for _, name := range changed.served {
		z := s.serving.zones[name]
		fmt.Fprintf(s.env.Stdout, "serving %s: serial %d, %s\n", plain.Name(name), z.soa.Serial, command.Count(z.records,
			"record"))
	}
	for _, name := range changed.withdrawn {
		fmt.Fprintf(s.env.Stdout, "withdrawn %s\n", plain.Name(name))
	}
	for _, fault := range changed.faults {
		fmt.Fprintf(s.env.Stderr, "error: %s\n", plain.Line(fault))
	}
	tellRefusals(s.env.Stdout, s.refused, refused)
	s.refused = refused
}

// A refusal is what is wrong with an object, in one line.
type refusal struct{ what, why string }

// refusalsOf returns what is refused, and what is warned of.
func refusalsOf(c *fold.Composition) []refusal {
	var out []refusal
	add := func(verb string, o *manifest.Object, name dnsname.Name, reason, message string) {
		what := verb + " " + plain.Line(o.Ref.String())
		if !name.IsZero() {
			what += ", " + plain.Name(name)
		}
		out = append(out, refusal{what, reason + ": " + plain.Line(message)})
	}
	for _, p := range c.Problems {
		verb := "refused"
		if p.Warning {
			verb = "warned of"
		}
		add(verb, p.Object, dnsname.Name{}, p.Reason, p.Message)
	}
	for _, z := range c.Zones {
		if !z.Verdict.Accepted {
			add("refused", z.Object, z.Verdict.Name, string(z.Verdict.Reason), z.Verdict.Message)
		}
		for _, n := range z.Verdict.Notes {
			add("warned of", z.Object, z.Verdict.Name, string(n.Reason), n.Message)
		}
	}
	for _, r := range c.Records {
		if !r.Verdict.Accepted {
			add("refused", r.Object, r.Verdict.Name, string(r.Verdict.Reason), r.Verdict.Message)
		}
		for _, n := range r.Verdict.Notes {
			add("warned of", r.Object, r.Verdict.Name, string(n.Reason), n.Message)
		}
	}
	return out
}

// tellRefusals prints what is refused now and was not, or for another reason, and what is not any more.
func tellRefusals(out io.Writer, before, now []refusal) {
	old, still := map[refusal]bool{}, map[string]bool{}
	for _, r := range before {
		old[r] = true
	}
	for _, r := range now {
		still[r.what] = true
		if !old[r] {
			fmt.Fprintf(out, "%s: %s\n", r.what, r.why)
		}
	}
	for _, r := range before {
		if !still[r.what] {
			fmt.Fprintf(out, "no longer %s\n", r.what)
			still[r.what] = true
		}
	}
}
