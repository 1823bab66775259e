package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// newExplain makes the command that says why a name is as it is.
func newExplain(env Env) *cobra.Command {
	var x explaining
	cmd := &cobra.Command{
		Use:   "explain {NAME [TYPE] | KIND/NAME}",
		Short: "Say why a name is, or is not, there",
		Long: `explain says who has a name, and why: which Zones enclose it, which of them were asked, which
rule decided, who else asks for the name, what servers answer, and what to do. NAME is a
domain name. KIND/NAME is an object, such as record/www, zone/dns, ingress/web, arecord/www or
dnsrecords.extensions.gardener.cloud/www.

If nobody asks for a name, explain prints the objects that would create it, for the namespace
given with -n (default: the namespace of the Zone).

The objects are read from files with -f, otherwise from the cluster as far as you may list
them. explain says what it could not see, and where the status of an object disagrees.

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
		Args: takes("NAME", "[TYPE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), env, args) },
	}
	x.in.register(cmd)
	x.out.register(cmd)
	cmd.ValidArgsFunction = completeNames(env, &x.in)
	cmd.Flags().StringArrayVar(&x.servers, "server", nil,
		"a name server to ask, an address with or without a port; repeatable")
	cmd.Flags().BoolVarP(&x.watch, "watch", "w", false, "explain again whenever it is otherwise, until interrupted")
	return cmd
}

// explaining is one run of explain.
type explaining struct {
	in      objectFlags
	out     output
	servers []string
	watch   bool
}

func (x *explaining) run(ctx context.Context, env Env, args []string) error {
	q, err := newQuestion(args)
	if err != nil {
		return err
	}
	ask, err := serverAddresses(x.servers)
	if err != nil {
		return err
	}
	if x.watch && len(x.in.files) > 0 {
		return errors.New("--watch looks at a cluster, and not at files: leave out -f, or run zonefold serve, which " +
			"follows files")
	}
	return untilDone(ctx, env, func(env Env, p *progress) error {
		look := func(env Env) error {
			e, err := x.in.explain(ctx, env, p, q, ask)
			if err != nil {
				return err
			}
			return e.print(env, x.out)
		}
		if x.watch {
			return follow(ctx, env, x.out, look)
		}
		return look(env)
	})
}

// explain reads the objects, and answers a question about them.
func (f *objectFlags) explain(ctx context.Context, env Env, p *progress, q questionAbout,
	ask []string) (*explanation, error) {
	objects, err := f.read(ctx, env, p)
	if err != nil {
		return nil, err
	}
	p.begin("deciding about "+count(len(objects.Objects), "object"), 0)
	x := newExplainer(objects)
	e, err := x.explain(q)
	if err != nil {
		return nil, err
	}
	p.begin("asking servers", 0)
	e.Servers = x.ask(ctx, e, ask)
	e.advise()
	p.end()
	return e, nil
}

// A questionAbout is what explain is asked about: a name, or an object.
type questionAbout struct {
	name dnsname.Name
	t    rr.Type // 0: any

	kind, object string // of an object; its namespace is in front of it or said otherwise
}

func newQuestion(args []string) (questionAbout, error) {
	var q questionAbout
	if kind, name, ok := strings.Cut(args[0], "/"); ok && manifest.KnowsKind(kind) {
		if len(args) > 1 {
			return q, fmt.Errorf("%s is an object, and has no second argument", oneLine(args[0]))
		}
		q.kind, q.object = strings.ToLower(kind), name
		return q, nil
	}
	name, err := zoneName(args[0])
	if err != nil || name.IsZero() {
		return q, fmt.Errorf("%q is no domain name, and no object such as record/www: %w", args[0], errors.Unwrap(err))
	}
	q.name = name
	if len(args) > 1 {
		if q.t, err = rr.ParseType(strings.ToUpper(args[1])); err != nil {
			return q, err
		}
	}
	return q, nil
}

// An explainer knows all objects, and what the World says of them.
type explainer struct {
	*objects
	fold        *fold
	composition *composition
}

func newExplainer(o *objects) *explainer {
	f := newFold()
	c, _ := f.put(o.Objects)
	return &explainer{o, f, c}
}

// explain answers a question.
func (x *explainer) explain(q questionAbout) (*explanation, error) {
	if q.kind == "" {
		return x.of(x.fold.world.Explain(q.name, q.t, x.asking())), nil
	}
	return x.explainObject(q)
}

// asking returns the namespace for which somebody asks who has said so.
func (x *explainer) asking() string {
	if x.cluster || x.namespace != "default" {
		return x.namespace
	}
	return ""
}

// explainObject answers a question about an object.
func (x *explainer) explainObject(q questionAbout) (*explanation, error) {
	namespace, name := x.namespace, q.object
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
		return nil, fmt.Errorf("there is no %s %s in namespace %s%s", q.kind, oneLine(name), namespace, x.maybeUnseen())
	case 1:
		return x.explainFound(found[0])
	}
	return nil, fmt.Errorf("%s and %s are both called so; add the group of the one that is meant to its kind, such as "+
		"dnsrecords.extensions.gardener.cloud/%s", found[0].Ref, found[1].Ref, oneLine(name))
}

// maybeUnseen says what may be there and could not be seen, of some resources or of all.
func (x *explainer) maybeUnseen(resources ...string) string {
	unseen := slices.DeleteFunc(slices.Clone(x.unseen), func(what string) bool {
		return len(resources) > 0 && !slices.ContainsFunc(resources, func(r string) bool {
			return strings.HasPrefix(what, "You may not list "+r)
		})
	})
	if len(unseen) == 0 {
		return ""
	}
	return ", as far as you may see: " + strings.Join(unseen, " ")
}

func (x *explainer) explainFound(o *manifest.Object) (*explanation, error) {
	for i := range x.composition.zones {
		if z := &x.composition.zones[i]; z.object.Ref == o.Ref {
			if known, ok := x.fold.world.ExplainObject(z.id()); ok {
				return x.of(known), nil
			}
			return x.of(zone.Explanation{Name: z.verdict.Name, Subject: z.id(), Verdict: z.verdict}), nil
		}
	}
	var claims []recordResult
	for _, r := range x.composition.records {
		if r.object.Ref == o.Ref {
			claims = append(claims, r)
		}
	}
	for _, p := range x.composition.problems {
		if p.object.Ref == o.Ref && len(claims) == 0 {
			return x.of(zone.Explanation{Subject: idOf(o.Ref), Verdict: zone.Verdict{
				Reason: zone.Reason(p.reason), Message: p.message}}), nil
		}
	}
	if len(claims) == 0 {
		return nil, fmt.Errorf("%s asks for no name", o.Ref)
	}
	r := claims[0] // of several sets, the first that is refused
	for _, other := range claims {
		if r.verdict.Accepted && !other.verdict.Accepted {
			r = other
		}
	}
	if known, ok := x.fold.world.ExplainObject(r.claim); ok {
		return x.of(known), nil
	}
	return x.of(zone.Explanation{Name: r.verdict.Name, Subject: r.claim, Verdict: r.verdict}), nil
}
