package show

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/console"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// consoleManager is the field manager of what forms write.
const consoleManager = "zonefold-console"

// maxForeseenHere is how many names and objects a change may concern whose consequences are told; maxEffects, how many
// of these are told one by one.
const (
	maxForeseenHere = 10_000
	maxEffects      = 20
)

// recordsOf is where Records are asked for.
func recordsOf(c *command.Cluster) command.Kind { return c.Kubizone("records") }

// A recordEdit is what a form wants of a Record.
type recordEdit struct {
	console.Action

	cluster *command.Cluster
	stored  *kubizone.Record // as it is; nil: of one that is created
}

// edit reads the Record that a form is about.
func (w *consoleWorld) edit(ctx context.Context, a console.Action) (*recordEdit, error) {
	if !w.explainer().Cluster {
		return nil, errFiles
	}
	c, _, err := w.flags.Cluster.Connect(w.env)
	if err != nil {
		return nil, err
	}
	e := &recordEdit{a, c, nil}
	if a.Verb == console.Create {
		return e, nil
	}
	e.stored = &kubizone.Record{}
	err = recordsOf(c).Of(recordsOf(c).Get(), a.Of.Namespace).Name(a.Of.Name).Do(ctx).Into(e.stored)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", a.Of.String(), err)
	}
	return e, nil
}

// Draft implements console.Source.
func (w *consoleWorld) Draft(ctx context.Context, o console.Object) (console.Draft, error) {
	e, err := w.edit(ctx, console.Action{Verb: console.Change, Of: o})
	if err == nil {
		err = w.may(ctx, "patch", o)
	}
	if err != nil {
		return console.Draft{}, err
	}
	return draftOf(e.stored), nil
}

func draftOf(r *kubizone.Record) console.Draft {
	d := console.Draft{FQDN: r.Spec.DomainName, Type: string(r.Spec.Type), Data: r.Spec.RData}
	if r.Spec.TTL != nil {
		d.TTL = strconv.FormatInt(int64(*r.Spec.TTL), 10)
	}
	return d
}

// MayCreate implements console.Source.
func (w *consoleWorld) MayCreate(ctx context.Context, namespace string) error {
	if !w.explainer().Cluster {
		return errFiles
	}
	return w.may(ctx, "create", console.Object{Namespace: namespace})
}

// may asks the API server whether the person may do something with Records.
func (w *consoleWorld) may(ctx context.Context, verb string, o console.Object) error {
	var review authorizationv1.SelfSubjectAccessReview
	review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: o.Namespace, Name: o.Name, Verb: verb,
		Group: kubizone.GroupVersion.Group, Resource: "records"}
	api := command.Asker{Interface: w.explainer().API}
	switch err := api.Review(ctx, command.Authorization+"selfsubjectaccessreviews", &review); {
	case err != nil:
		return fmt.Errorf("asking whether you may %s records in namespace %s: %w", verb, o.Namespace, err)
	case !review.Status.Allowed:
		return fmt.Errorf("you may not %s %s in namespace %s", verb,
			strings.TrimSpace("records.kubi.zone "+o.Name), o.Namespace)
	}
	return nil
}

// request is what an edit asks the API server for, which only tries it with the value All of dryRun.
func (e *recordEdit) request(dryRun []string) (*rest.Request, error) {
	spec := map[string]any{"domainName": e.Draft.FQDN, "type": e.Draft.Type, "rdata": e.Draft.Data}
	if e.Draft.TTL != "" {
		ttl, err := strconv.ParseInt(e.Draft.TTL, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the TTL %q is not a number of seconds", e.Draft.TTL)
		}
		spec["ttl"] = ttl
	}
	records := recordsOf(e.cluster)
	var request *rest.Request
	var body any
	switch e.Verb {
	case console.Create:
		request, body = records.Post(), map[string]any{"apiVersion": kubizone.GroupVersion.String(), "kind": manifest.Record,
			"metadata": map[string]any{"namespace": e.Of.Namespace, "name": e.Of.Name}, "spec": spec}
	case console.Change:
		if e.Draft.TTL == "" {
			spec["ttl"] = nil
		}
		request, body = records.Patch(types.MergePatchType), map[string]any{"spec": spec, "metadata": map[string]any{
			"uid": e.stored.UID, "resourceVersion": e.stored.ResourceVersion}}
	default:
		request, body = records.Delete(), metav1.DeleteOptions{
			TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
			DryRun:        dryRun, // where there is a body, parameters do not count
			Preconditions: &metav1.Preconditions{UID: &e.stored.UID, ResourceVersion: &e.stored.ResourceVersion}}
	}
	if request = records.Of(request, e.Of.Namespace); e.stored != nil {
		request = request.Name(e.Of.Name)
	}
	if e.Verb.Drafts() {
		request = request.Param("fieldManager", consoleManager).Param("fieldValidation", "Strict")
		for _, value := range dryRun {
			request = request.Param("dryRun", value)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return request.Body(text), nil
}

// send has the API server do it, or only try it with the value All of dryRun. It returns the object as it is then, and
// what the API server warns of.
func (e *recordEdit) send(ctx context.Context, dryRun ...string) (*kubizone.Record, []string, error) {
	request, err := e.request(dryRun)
	if err != nil {
		return nil, nil, err
	}
	if e.Verb != console.Change { // whose patch has a type of its own
		request = request.SetHeader("Content-Type", "application/json")
	}
	result := request.Do(ctx)
	var warnings []string
	for _, w := range result.Warnings() {
		warnings = append(warnings, w.Text)
	}
	if err := result.Error(); err != nil { // Raw has not read what the API server says of it
		return nil, warnings, err
	}
	text, err := result.Raw()
	if err != nil {
		return nil, warnings, err
	}
	out := e.stored
	if e.Verb.Drafts() {
		out = &kubizone.Record{}
		if err := json.Unmarshal(text, out); err != nil {
			return nil, warnings, fmt.Errorf("reading what the API server says of %s: %w", e.Of.String(), err)
		}
	}
	return out, warnings, nil
}

// planRecord says what an edit would do: what the API server would store, and what the World would decide.
func (w *consoleWorld) planRecord(ctx context.Context, e *recordEdit) (*console.Plan, error) {
	words := map[console.Verb]string{console.Create: "is created", console.Change: "is changed",
		console.Delete: "is deleted"}
	out := &console.Plan{Sentence: e.Of.String() + " " + words[e.Verb] + "." + managersOf(e.stored)}
	after, warnings, err := e.send(ctx, metav1.DryRunAll)
	if out.Warnings = warnings; err != nil {
		out.Refused = refusalOf(err)
		return out, nil
	}
	if e.stored != nil {
		out.Lines = append(out.Lines, console.Line{Sign: "-", Text: lineOf(e.stored)})
	}
	if e.Verb.Drafts() {
		out.Lines = append(out.Lines, console.Line{Sign: "+", Text: lineOf(after)})
		if out.YAML, err = yamlOf(after); err != nil {
			return nil, err
		}
	}
	if len(out.Lines) == 2 && out.Lines[0].Text == out.Lines[1].Text {
		out.Lines, out.Refused = nil, "Nothing would change."
	}
	w.foresee(e, after, out)
	out.ID = idOfPlan(e, out)
	return out, nil
}

// refusalOf says why the API server does not take something.
func refusalOf(err error) string {
	if apierrors.IsForbidden(err) {
		return "You may not do this: " + err.Error() + "."
	}
	return "The API server would refuse it: " + err.Error() + "."
}

// foresee says what the World would decide, of as many objects as the person may see.
func (w *consoleWorld) foresee(e *recordEdit, after *kubizone.Record, out *console.Plan) {
	claim := dialect.ConvertRecord(after)
	if e.Verb == console.Delete { // one that asks for nothing
		claim = zone.Claim{ID: claim.ID, Invalid: &zone.Refusal{Reason: fold.BeingDeleted, Message: "It is deleted."}}
	}
	w.mu.Lock()
	forecast, known := w.fold.World.ForeseeClaim(claim, maxForeseenHere)
	w.mu.Unlock()
	if !known {
		out.Others = []string{fmt.Sprintf(
			"It concerns more than %d names and objects, so its effects were not checked.", maxForeseenHere)}
		return
	}
	if v := forecast.Verdict; e.Verb.Drafts() {
		out.Verdict = &console.Verdict{Accepted: v.Accepted, Reason: string(v.Reason), Message: v.Message}
		if v.Accepted && v.Message == "" {
			out.Verdict.Message = fmt.Sprintf("%s goes to %s.", v.Name, v.Zone)
		}
		for _, n := range v.Notes {
			out.Verdict.Notes = append(out.Verdict.Notes, fmt.Sprintf("%s: %s", n.Reason, n.Message))
		}
	}
	out.Others = effectsOf(forecast.Others)
}

// effectsOf says what would become of other objects.
func effectsOf(effects []zone.Effect) []string {
	slices.SortFunc(effects, func(a, b zone.Effect) int { return a.ID.Compare(b.ID) })
	var out []string
	for i, e := range effects {
		if i == maxEffects {
			return append(out, fmt.Sprintf("The verdicts of %s more change.", command.Count(len(effects)-i, "object")))
		}
		switch {
		case e.Before.Accepted && !e.After.Accepted:
			out = append(out, fmt.Sprintf("%s is refused then (%s): %s", e.ID, e.After.Reason, e.After.Message))
		case !e.Before.Accepted && e.After.Accepted:
			out = append(out, fmt.Sprintf("%s, which is refused now (%s), is accepted.", e.ID, e.Before.Reason))
		default:
			out = append(out, fmt.Sprintf("The verdict of %s changes: %s", e.ID, cmp.Or(e.After.Message, noteOf(e.After),
				string(e.After.Reason))))
		}
	}
	return out
}

func noteOf(v zone.Verdict) string {
	if len(v.Notes) == 0 {
		return ""
	}
	return v.Notes[len(v.Notes)-1].Message
}

// lineOf returns what a Record asks for.
func lineOf(r *kubizone.Record) string {
	d := draftOf(r)
	return strings.Join([]string{d.FQDN, cmp.Or(d.TTL, "(TTL of the zone)"), r.Spec.ClassOrDefault(), d.Type, d.Data}, " ")
}

// yamlOf returns what of an object people write.
func yamlOf(r *kubizone.Record) (string, error) {
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r)
	if err != nil {
		return "", err
	}
	meta, _ := all["metadata"].(map[string]any)
	for _, field := range []string{"managedFields", "uid", "creationTimestamp", "resourceVersion", "generation"} {
		delete(meta, field)
	}
	delete(all, "status")
	out, err := yaml.Marshal(all)
	return string(out), err
}

// managersOf says who else writes a Record, and may write it again.
func managersOf(r *kubizone.Record) string {
	if r == nil {
		return ""
	}
	var names []string
	for _, m := range r.ManagedFields {
		if m.Subresource == "" && m.Manager != consoleManager {
			names = append(names, m.Manager)
		}
	}
	for _, o := range r.OwnerReferences {
		names = append(names, o.Kind+" "+o.Name)
	}
	if slices.Sort(names); len(names) == 0 {
		return ""
	}
	return " It was written by " + strings.Join(slices.Compact(names), ", ") + ": the next write by that program undoes " +
		"the change."
}

// idOfPlan returns a sum of what a person is shown, and of what it depends on.
func idOfPlan(e *recordEdit, p *console.Plan) string {
	parts := []string{string(e.Verb), e.Of.String(), p.Sentence, p.YAML, p.Refused}
	if e.stored != nil {
		parts = append(parts, string(e.stored.UID), fmt.Sprint(e.stored.Generation))
	}
	for _, line := range p.Lines {
		parts = append(parts, line.Sign, line.Text)
	}
	if v := p.Verdict; v != nil {
		parts = append(parts, fmt.Sprint(v.Accepted), v.Reason, v.Message)
		parts = append(parts, v.Notes...)
	}
	text, err := json.Marshal(append(parts, p.Others...))
	if err != nil {
		return "" // of which nobody is asked
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// doRecord does what was shown, if it still is that.
func (w *consoleWorld) doRecord(ctx context.Context, a console.Action, plan string) (string, error) {
	e, err := w.edit(ctx, a)
	if err != nil {
		return "", err
	}
	now, err := w.planRecord(ctx, e)
	switch {
	case err != nil:
		return "", err
	case now.Refused != "":
		return "", errors.New(strings.TrimSuffix(now.Refused, "."))
	case now.ID == "" || now.ID != plan:
		return "", errOtherPlan
	}
	if _, _, err := e.send(ctx); err != nil {
		return "", fmt.Errorf("%s: %w", e.Of.String(), err)
	}
	if e.Verb == console.Delete {
		return e.Of.String() + " is deleted.", nil
	}
	return e.Of.String() + " is stored. Its page shows the outcome.", nil
}
