package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// newApprove makes the command that has held deletions made.
func newApprove(env command.Env) *cobra.Command {
	var flags command.ClusterFlags
	var plan string
	var out command.Output
	cmd := &cobra.Command{
		Use:   "approve {ZONE | KIND/ZONE | backend/NAME} [-n NAMESPACE]",
		Short: "Approve deletions that the protection of a Backend holds",
		Long: `approve lets the operator make the deletions that it holds back for a Zone or DNSZone. The
condition DeletionsHeld of the object lists them. ZONE is the name of the object, or else its
domain name, or NAMESPACE/NAME. KIND is zone or dnszone, and is needed only if both exist.
backend/NAME approves what status.leftBehind of the Backend shows as held: what deleted Zones
have left on its servers.

The command approves, and prints, what is held when it runs. If more is to be deleted by the
time that the operator sees the approval, nothing is deleted, and everything is held as a
new plan. With --plan, only the plan of that name is approved.

The command sets the annotation ` + zonefold.ApproveAnnotation + ` on the object, so you
need the right to patch it. The operator removes the annotation from a zone after the
deletions.

Exit codes: 0 if the deletions are approved, or none are held; 1 if not.`,
		Example: `  zonefold approve example-org -n dns
  zonefold approve example.org
  zonefold approve dnszone/example-org -n dns --plan 3f0c2c9be1a4402d9d1b3c1b7a1e9d55
  zonefold approve backend/bind`,
		Args: command.Takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, namespace, err := flags.Config(env)
			if err != nil {
				return err
			}
			client, err := discovery.NewDiscoveryClientForConfig(config)
			if err != nil {
				return fmt.Errorf("connecting to the cluster: %w", err)
			}
			a := NewApproval(env, client.RESTClient(), namespace)
			a.Form = out
			ref, err := a.named(cmd.Context(), &flags, args[0])
			if err != nil {
				return err
			}
			return a.Approve(cmd.Context(), ref, plan)
		},
	}
	flags.Register(cmd)
	out.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteObjects(env, &flags, &flags.Namespace)
	cmd.Flags().StringVar(&plan, "plan", "",
		"approve only this plan, as in status.held.plan or in status.leftBehind of a Backend")
	return cmd
}

// An Approval approves.
type Approval struct {
	env       command.Env
	client    rest.Interface
	namespace string

	Form command.Output
}

// NewApproval approves what is held of objects of a namespace.
func NewApproval(env command.Env, client rest.Interface, namespace string) *Approval {
	return &Approval{env, client, namespace, command.OutputText}
}

// named returns the reference of what is named by its domain name, or by its namespace and name, and has the approval
// be about that namespace. What is a reference stays one.
func (a *Approval) named(ctx context.Context, flags *command.ClusterFlags, ref string) (string, error) {
	parts := strings.Split(ref, "/")
	kind := strings.TrimSuffix(strings.ToLower(parts[0]), "s")
	known := kind == "backend" || slices.ContainsFunc(heldKinds(), func(k heldKind) bool { return k.name == kind })
	if len(parts) == 2 && known {
		return ref, nil
	}
	if len(parts) == 1 {
		_, _, err := a.Find(ctx, ref)
		if !errors.Is(err, errNoSuchZone) || !strings.Contains(ref, ".") {
			return ref, err
		}
	}
	c, _, err := flags.Connect(a.env)
	if err != nil {
		return "", err
	}
	z, err := command.FindZone(ctx, c, flags.Namespace, ref)
	if err != nil {
		return "", err
	}
	a.namespace = z.Namespace
	return strings.ToLower(z.Kind) + "/" + z.Name, nil
}

// errNoSuchZone is about an object that is not there.
var errNoSuchZone = errors.New("there is no Zone and no DNSZone")

// A heldZone is a Zone or DNSZone, as far as approving it goes.
type heldZone struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		Held *kubizone.Held `json:"held"`
	} `json:"status"`
}

// A heldKind is a kind of zones by its name on the command line, and where it is in the API.
type heldKind struct{ name, group, resource string }

func heldKinds() []heldKind {
	return []heldKind{
		{"zone", kubizone.GroupVersion.String(), "zones"},
		{"dnszone", v1beta1.GroupVersion.String(), "dnszones"},
	}
}

// Approve approves what is held of an object, if that is the plan; any plan, if it is "".
func (a *Approval) Approve(ctx context.Context, ref, plan string) error {
	if name, ok := backendRef(ref); ok {
		return a.approveLeft(ctx, name, plan)
	}
	path, z, err := a.Find(ctx, ref)
	if err != nil {
		return err
	}
	name := plain.Line(z.Kind + " " + a.namespace + "/" + z.Metadata.Name)
	held := z.Status.Held
	switch {
	case held == nil:
		return a.print(nil, name+": no deletions are held; nothing to do")
	case held.Plan == "":
		return fmt.Errorf("%s: the policy of its Backend keeps what is held, and it cannot be approved; change "+
			"spec.protection.policy of the Backend", name)
	case plan != "" && plan != held.Plan:
		return fmt.Errorf("%s: the held plan is %s; look at its condition DeletionsHeld", name, plain.Line(held.Plan))
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": z.Metadata.UID, "annotations": map[string]any{zonefold.ApproveAnnotation: held.Plan}}})
	if err != nil {
		return err
	}
	if _, err := a.client.Patch(types.MergePatchType).AbsPath(path).Body(patch).DoRaw(ctx); err != nil {
		return fmt.Errorf("approving %s: %w", name, forbidden(err, "patch"))
	}
	such := strings.Join(held.Examples, ", ")
	if int(held.Sets) > len(held.Examples) {
		such += " and others"
	}
	return a.print([]ApprovedPlan{{z.Kind, a.namespace, z.Metadata.Name, "", held.Plan, int64(held.Sets), held.Examples}},
		fmt.Sprintf("%s: the deletion of %s is approved: %s", name, command.Count(int(held.Sets), "set"), such))
}

// Find returns the object that is meant, and where it is in the API.
func (a *Approval) Find(ctx context.Context, ref string) (string, *heldZone, error) {
	kind, name, said := strings.Cut(ref, "/")
	if !said {
		kind, name = "", ref
	}
	var found []*heldZone
	var path string
	for _, k := range heldKinds() {
		if said && !strings.EqualFold(strings.TrimSuffix(kind, "s"), k.name) {
			continue
		}
		at := fmt.Sprintf("/apis/%s/namespaces/%s/%s/%s", k.group, a.namespace, k.resource, name)
		text, err := a.client.Get().AbsPath(at).SetHeader("Accept", "application/json").DoRaw(ctx)
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err) && !said && len(found) > 0:
			continue
		case err != nil:
			return "", nil, fmt.Errorf("reading %s %s/%s: %w", k.name, a.namespace, name, forbidden(err, "get"))
		}
		z := &heldZone{}
		if err := json.Unmarshal(text, z); err != nil {
			return "", nil, fmt.Errorf("reading %s %s/%s: %w", k.name, a.namespace, name, err)
		}
		found, path = append(found, z), at
	}
	switch len(found) {
	case 0:
		return "", nil, fmt.Errorf("%w %s in namespace %s; write zone/NAME or dnszone/NAME, and its namespace with -n",
			errNoSuchZone, plain.Line(ref), plain.Line(a.namespace))
	case 1:
		return path, found[0], nil
	}
	return "", nil, fmt.Errorf("namespace %[2]s has both a Zone and a DNSZone %[1]s; write zone/%[1]s or dnszone/%[1]s",
		plain.Line(name), plain.Line(a.namespace))
}

// forbidden says what an API server means that does not let us do something: its words are lost on the way.
func forbidden(err error, verb string) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return fmt.Errorf("you need the right to %s it", verb)
}
