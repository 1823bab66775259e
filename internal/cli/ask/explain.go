package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// newExplain makes the command that says why a name is as it is.
func newExplain(env command.Env) *cobra.Command {
	var x explaining
	cmd := &cobra.Command{
		Use:   "explain {NAME [TYPE] | KIND/NAME}",
		Short: "Explain why a name exists, or does not",
		Long: `explain says who has a name, and why: which Zones enclose it, which of them were asked, which
rule decided, who else asks for the name, what servers answer, and what to do. NAME is a
domain name. KIND/NAME is an object, such as record/www, zone/dns, ingress/web, arecord/www or
dnsrecords.extensions.gardener.cloud/www.

If nobody asks for a name, explain prints the objects that would create it, for the namespace
given with -n (default: the namespace of the Zone).

The objects are read from files with -f, otherwise from the cluster as far as you may list
them; Services, Ingresses, routes and the like with --sources, or if KIND is one of them.
explain says what it could not see, and where the status of an object disagrees.

It asks servers whose addresses it knows: those of rfc2136 Backends, and those given with
--server. If inspect.enabled is set in the operator's chart, it also says what the operator
last heard from each server, since when the server has failed, and when the operator tries
again. You need the right to get the object for that: docs/inspect.md.

With --watch it looks again every two seconds, or less often if that takes long, and prints
again when something has changed.

Exit codes: 0 if it could explain, whatever the answer is; 1 if not.`,
		Example: `  zonefold explain www.example.org A -f zones/
  zonefold explain shop.example.org -n team-a
  zonefold explain record/shop -n team-a -o json
  zonefold explain www.example.org --server 192.0.2.53
  zonefold explain record/shop -n team-a --watch`,
		Args: command.Takes("NAME", "[TYPE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), env, args) },
	}
	x.in.Register(cmd)
	x.in.RegisterKustomize(cmd)
	x.out.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteNames(env, &x.in)
	cmd.Flags().StringArrayVar(&x.servers, "server", nil,
		"a name server to ask, an address with or without a port; repeatable")
	cmd.Flags().BoolVarP(&x.watch, "watch", "w", false, "explain again whenever the answer changes, until interrupted")
	return cmd
}

// explaining is one run of explain.
type explaining struct {
	in      command.ObjectFlags
	out     command.Output
	servers []string
	watch   bool
}

func (x *explaining) run(ctx context.Context, env command.Env, args []string) error {
	q, err := NewQuestion(args)
	if err != nil {
		return err
	}
	ask, err := serverAddresses(x.servers)
	if err != nil {
		return err
	}
	if x.watch && x.in.FromFiles() {
		return errors.New("--watch follows a cluster, not files; remove -f, or use zonefold serve, which follows files")
	}
	x.in.Sources = x.in.Sources || manifest.IsSource(q.kind)
	return command.UntilDone(ctx, env, func(env command.Env, p *command.Progress) error {
		look := func(env command.Env) error {
			e, err := x.explain(ctx, env, p, q, ask)
			if err != nil {
				return err
			}
			return e.print(env, x.out)
		}
		if x.watch {
			return command.Follow(ctx, env, x.out, look)
		}
		return look(env)
	})
}

// explain reads the objects, and answers a question about them.
func (x *explaining) explain(ctx context.Context, env command.Env, p *command.Progress, q questionAbout,
	ask []string) (*explanation, error) {
	objects, err := x.in.Read(ctx, env, p)
	if err == nil {
		err = command.Complain(env, objects.Input)
	}
	if err != nil {
		return nil, err
	}
	p.Begin("deciding about "+command.Count(len(objects.Objects), "object"), 0)
	explainer := NewExplainer(objects)
	e, err := explainer.Explain(q)
	if err != nil {
		return nil, err
	}
	p.Begin("asking servers", 0)
	e.Servers = explainer.Ask(ctx, e, ask)
	e.Advise()
	if objects.Cluster && !x.in.Sources {
		e.Unseen = append(e.Unseen, command.WithoutSources)
	}
	p.End()
	return e, nil
}

// A questionAbout is what explain is asked about: a name, or an object.
type questionAbout struct {
	name dnsname.Name
	t    rr.Type // 0: any

	kind, object string // of an object; its namespace is in front of it or said otherwise
}

// NewQuestion reads what explain is asked about: NAME [TYPE], or KIND/NAME.
func NewQuestion(args []string) (questionAbout, error) {
	var q questionAbout
	if kind, name, ok := strings.Cut(args[0], "/"); ok && !strings.HasSuffix(name, ".") { // no object's name ends so
		switch known := manifest.KnowsKind(kind); {
		case known && len(args) > 1:
			return q, fmt.Errorf("%s is an object, which takes no second argument", plain.Line(args[0]))
		case known:
			q.kind, q.object = strings.ToLower(kind), name
			return q, nil
		case !strings.HasSuffix(strings.ToLower(name), ".in-addr.arpa"): // RFC 2317 has zones such as 0/25.2.0.192 there
			return q, fmt.Errorf("%q in %q is no kind of objects; known are %s; end a domain name that has a slash with a dot",
				kind, args[0], strings.Join(manifest.KindNames(), ", "))
		}
	}
	name, err := command.ZoneName(args[0])
	if err != nil || name.IsZero() {
		return q, fmt.Errorf("%q is neither a domain name nor an object such as record/www: %w", args[0], errors.Unwrap(err))
	}
	q.name = name
	if len(args) > 1 {
		if q.t, err = rr.ParseType(strings.ToUpper(args[1])); err != nil {
			return q, err
		}
	}
	return q, nil
}

// An Explainer knows all objects, and what the World says of them.
type Explainer struct {
	*command.Found
	fold        *fold.Fold
	Composition *fold.Composition
}

// NewExplainer folds the objects, and explains them.
func NewExplainer(o *command.Found) *Explainer {
	f := fold.New()
	c, _ := f.Put(o.Objects)
	return &Explainer{o, f, c}
}

// ExplainerOver explains objects that are folded already.
func ExplainerOver(o *command.Found, f *fold.Fold, c *fold.Composition) *Explainer {
	return &Explainer{o, f, c}
}

// Explain answers a question.
func (x *Explainer) Explain(q questionAbout) (*explanation, error) {
	if q.kind != "" {
		return x.explainObject(q)
	}
	known := x.fold.World.Explain(q.name, q.t, x.asking())
	switch r := x.unaddressed(q); {
	case r == nil:
	case known.Subject.IsZero():
		known = x.fold.World.Explain(q.name, q.t, r.Object.Ref.Namespace)
		known.Subject, known.Verdict = r.Claim, r.Verdict
	case known.Subject.Object() == r.Claim.Object(): // it has what was published
		known.Verdict.Notes = append(slices.Clip(known.Verdict.Notes),
			zone.Note{Reason: r.Verdict.Reason, Message: r.Verdict.Message})
	}
	return x.of(known), nil
}

// unaddressed returns what asks for a name and has no address for it, so that there is no claim but for what was
// published; nil: nothing does.
func (x *Explainer) unaddressed(q questionAbout) *fold.RecordResult {
	if q.t != 0 && q.t != rr.TypeA && q.t != rr.TypeAAAA && q.t != rr.TypeCNAME {
		return nil
	}
	i := slices.IndexFunc(x.Composition.Records, func(r fold.RecordResult) bool {
		return r.Verdict.Reason == sources.AddressLost && r.Verdict.Name == q.name
	})
	if i < 0 {
		return nil
	}
	return &x.Composition.Records[i]
}

// asking returns the namespace for which somebody asks who has said so.
func (x *Explainer) asking() string {
	if x.Cluster || x.Namespace != "default" {
		return x.Namespace
	}
	return ""
}

// explainObject answers a question about an object.
func (x *Explainer) explainObject(q questionAbout) (*explanation, error) {
	namespace, name := x.Namespace, q.object
	if ns, n, ok := strings.Cut(q.object, "/"); ok {
		namespace, name = ns, n
	}
	var found []*manifest.Object
	for _, o := range x.Objects {
		if o.Name == name && (o.Ref.Namespace == namespace || o.Ref.Namespace == "") && o.IsCalled(q.kind) &&
			(len(found) == 0 || found[0].Ref != o.Ref) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%s %s does not exist in namespace %s%s", q.kind, plain.Line(name), namespace, x.MaybeUnseen())
	case 1:
		return x.explainFound(found[0])
	}
	return nil, fmt.Errorf("the name fits %s and %s; add the group to the kind, such as "+
		"dnsrecords.extensions.gardener.cloud/%s", found[0].Ref, found[1].Ref, plain.Line(name))
}

// MaybeUnseen says what may be there and could not be seen, of some resources or of all.
func (x *Explainer) MaybeUnseen(resources ...string) string {
	unseen := slices.DeleteFunc(slices.Clone(x.Unseen), func(what string) bool {
		return len(resources) > 0 && !slices.ContainsFunc(resources, func(r string) bool {
			return strings.HasPrefix(what, "You may not list "+r)
		})
	})
	if len(unseen) == 0 {
		return ""
	}
	return ", as far as you may see: " + strings.Join(command.Together(unseen), " ")
}

func (x *Explainer) explainFound(o *manifest.Object) (*explanation, error) {
	for i := range x.Composition.Zones {
		if z := &x.Composition.Zones[i]; z.Object.Ref == o.Ref {
			if known, ok := x.fold.World.ExplainObject(z.ID()); ok {
				return x.of(known), nil
			}
			return x.of(zone.Explanation{Name: z.Verdict.Name, Subject: z.ID(), Verdict: z.Verdict}), nil
		}
	}
	var claims []fold.RecordResult
	for _, r := range x.Composition.Records {
		if r.Object.Ref == o.Ref {
			claims = append(claims, r)
		}
	}
	for _, p := range x.Composition.Problems {
		if p.Object.Ref == o.Ref && len(claims) == 0 {
			return x.of(zone.Explanation{Subject: fold.IdOf(o.Ref), Verdict: zone.Verdict{
				Reason: zone.Reason(p.Reason), Message: p.Message}}), nil
		}
	}
	if len(claims) == 0 {
		return nil, fmt.Errorf("%s asks for no name", o.Ref)
	}
	r := claims[0] // of several sets, the first that is refused
	for _, other := range claims {
		if r.Verdict.Accepted && !other.Verdict.Accepted {
			r = other
		}
	}
	if known, ok := x.fold.World.ExplainObject(r.Claim); ok {
		return x.of(known), nil
	}
	return x.of(zone.Explanation{Name: r.Verdict.Name, Subject: r.Claim, Verdict: r.Verdict}), nil
}
