package zones

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A host is an instance with its pods.
type host struct {
	primary bool
	server  *dialect.Server // that it was found by; nil: none could be made
	pods    []*Pod
	ending  []*Pod // that are to go and serve for a moment more
	trouble string // why it cannot be used, as a sentence
	signs   dialect.Signs
	ledger  ledger             // what its status says
	unswept map[types.UID]bool // its pods that may have what they are to lose

	transfer      client.ObjectKey // the Secret with the keys for transfers
	allowTransfer []string         // who may transfer zones beside those who have one, by its configuration
}

// last is the server that the instance was when its spec could be carried out; nil if that was never seen. What runs
// goes on as that.
func (h *host) last() *dialect.Server {
	if h == nil {
		return nil
	}
	return h.server
}

// cluster is the one that the instance is part of.
func (h *host) cluster() types.NamespacedName {
	if h.server == nil {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: h.server.Instance.Namespace, Name: h.server.Instance.Spec.ClusterRef}
}

// known is what was known of a pod, nil if nothing was.
func (h *host) known(p *Pod) *Pod {
	for _, pods := range [][]*Pod{h.pods, h.ending} {
		if i := slices.IndexFunc(pods, p.same); i >= 0 {
			return pods[i]
		}
	}
	return nil
}

// servers are those of a primary.
func (h *host) servers() (out []delivery.Server) {
	for _, p := range h.pods {
		out = append(out, p.server)
	}
	for _, p := range h.ending {
		s := p.server
		s.Ending = true
		out = append(out, s)
	}
	return out
}

// pod is one of its pods that stay, nil if it has none of that UID.
func (h *host) pod(uid types.UID) *Pod {
	if h == nil {
		return nil
	}
	if i := slices.IndexFunc(h.pods, func(p *Pod) bool { return p.UID == uid }); i >= 0 {
		return h.pods[i]
	}
	return nil
}

// placeOf is the name of the Place that an instance is.
func placeOf(instance client.ObjectKey) string { return instance.String() }

func instanceOf(place string) (client.ObjectKey, bool) {
	namespace, name, ok := strings.Cut(place, "/")
	return client.ObjectKey{Namespace: namespace, Name: name}, ok
}

// Look finds the pods of an instance and their keys, and has zones delivered to them, and to no others.
func (z *Zones) Look(ctx context.Context, key client.ObjectKey) error {
	var i v1beta1.Bind9Instance
	err := z.Client.Get(ctx, key, &i)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Bind9Instance %s: %w", key, err)
	}
	if i.UID == "" || !i.DeletionTimestamp.IsZero() || i.Spec.ReplicasOrDefault() == 0 {
		z.forgetHost(key)
		return nil
	}
	plan, problem, err := z.Servers.Plan(ctx, &i)
	if err != nil {
		return err
	}
	st, unlock := z.state.Lock()
	before := st.hosts[key]
	unlock()
	server := before.last()
	switch {
	case problem == nil:
		server = plan.Server
	case server == nil:
		if server, err = z.Servers.Standing(ctx, &i); err != nil {
			return err
		}
	}
	if server == nil { // nobody knows how to reach what runs
		if before == nil {
			(&look{z: z}).put(&i, &host{
				primary: i.Spec.Role.Canonical() != v1beta1.RoleSecondary, trouble: problem.Message,
				ledger: ledgerOf(i.Status.Zones),
			})
		}
		return nil
	}
	l := &look{z, server, before}
	now, err := l.host(ctx)
	if err != nil {
		return err
	}
	if problem == nil {
		now.allowTransfer = plan.AllowTransfer()
	} else if len(now.pods) == 0 {
		now.trouble = problem.Message // which is why nothing runs
	}
	l.put(&i, now)
	return nil
}

func (z *Zones) forgetHost(key client.ObjectKey) {
	st, unlock := z.state.Lock()
	before := st.hosts[key]
	delete(st.hosts, key)
	delete(st.parting, key)
	delete(st.due, key)
	unlock()
	z.pending.forget(key)
	if before == nil {
		return
	}
	if before.primary {
		z.protections.delete(key)
	}
	z.visitAll(key)
}

// A look is one at a server and its pods.
type look struct {
	z      *Zones
	server *dialect.Server
	before *host // what was known; nil: nothing
}

// host is the server with its pods. What was known of those that stay is kept.
func (l *look) host(ctx context.Context) (*host, error) {
	s, before := l.server, l.before
	out := &host{server: slim(s), primary: s.Role == v1beta1.RolePrimary,
		transfer: client.ObjectKey{Namespace: s.Instance.Namespace, Name: s.TransferSecret()}}
	var err error
	if out.signs, err = l.signs(ctx); err != nil {
		return nil, err
	}
	if before != nil {
		out.ledger, out.unswept, out.allowTransfer = before.ledger, before.unswept, before.allowTransfer
	} else {
		out.ledger = ledgerOf(s.Instance.Status.Zones)
	}
	_, _, err = l.keys(ctx, s.TransferSecret())
	missing := errors.Is(err, errNoKeys)
	if err != nil && !missing {
		return nil, err
	}
	pods, err := l.z.Servers.Pods(ctx, s)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for n := range pods {
		p := l.pod(&pods[n], out.primary)
		if p == nil {
			continue
		}
		if before != nil && before.primary == out.primary {
			if known := before.known(p); known != nil {
				switch {
				case known.starts != p.starts:
					defer l.z.restarted(known)
				case p.ready && !known.ready:
					defer l.returned(known)
				}
				known.starts, known.ready = p.starts, p.ready
				p = known
			}
		}
		has, err := l.equip(ctx, p, s.TransferSecretAt(&pods[n]))
		if err != nil {
			return nil, err
		}
		if !has {
			missing = true
			continue
		}
		if err := p.connect(); err != nil {
			return nil, err
		}
		if pods[n].DeletionTimestamp.IsZero() {
			out.pods = append(out.pods, p)
		} else {
			out.ending = append(out.ending, p)
		}
	}
	switch {
	case len(out.pods) > 0:
	case missing:
		out.trouble = dialect.Sentence("The keys of Bind9Instance %s/%s are not there yet.", s.Instance.Namespace,
			s.Instance.Name)
	default:
		out.trouble = dialect.Sentence("No pod of Bind9Instance %s/%s is running.", s.Instance.Namespace, s.Instance.Name)
	}
	return out, nil
}

// signs is what the server says about the signing of zones. Its keys are in the claim that was made for it, if there is
// one: while that is about to be made, nobody knows of any.
func (l *look) signs(ctx context.Context) (dialect.Signs, error) {
	out, claim := l.server.Signs(), &corev1.PersistentVolumeClaim{}
	key := client.ObjectKey{Namespace: l.server.Instance.Namespace, Name: l.server.OwnClaim()}
	if key.Name == "" {
		return out, nil
	}
	if err := l.z.Client.Get(ctx, key, claim); client.IgnoreNotFound(err) != nil {
		return out, fmt.Errorf("reading PersistentVolumeClaim %s: %w", key, err)
	}
	if metav1.IsControlledBy(claim, l.server.Instance) {
		out.KeysIn = string(claim.UID)
	}
	return out, nil
}

// equip gives a pod the keys that are in use at it, and reports whether it has any. While there are none, what runs
// goes on with those of before.
func (l *look) equip(ctx context.Context, p *Pod, transferSecret string) (has bool, err error) {
	update, transfer, err := l.keys(ctx, transferSecret)
	switch {
	case errors.Is(err, errNoKeys):
		return p.connected(), nil
	case err != nil:
		return false, err
	case p.setKeys(update, transfer) && p.connected():
		l.z.visitAll(p.instance)
	}
	return true, nil
}

// slim is a server without its instance's status, which may list thousands of zones.
func slim(s *dialect.Server) *dialect.Server {
	out, instance := *s, *s.Instance
	instance.Status = v1beta1.Bind9InstanceStatus{}
	out.Instance = &instance
	return &out
}

// restarted forgets what is known of a pod whose BIND has started anew.
func (z *Zones) restarted(p *Pod) {
	if p.primary {
		for _, s := range z.allServers() {
			s.Restarted(p.server.Name)
		}
	}
	st, unlock := z.state.Lock()
	defer unlock()
	st.forgetAt(p.UID, func(*follow) bool { return true })
}

// returned has a pod that is ready again get what it missed. Its Service leads to it by now.
func (l *look) returned(p *Pod) {
	if p.primary {
		for _, s := range l.z.allServers() {
			s.Returned(p.server.Name)
		}
	}
}

var errNoKeys = errors.New("there are no keys yet")

// keys reads those that are in use at the server, or at a pod of it that has another Secret for transfers.
func (l *look) keys(ctx context.Context, transferSecret string) (update, transfer bind9.Key, err error) {
	update, err = l.key(ctx, dialect.KeySecret(l.server.Instance.Name), bind9.ForOperator)
	if err == nil {
		transfer, err = l.key(ctx, transferSecret, bind9.ForTransfer)
	}
	return update, transfer, err
}

func (l *look) key(ctx context.Context, secretName string, purpose bind9.Purpose) (bind9.Key, error) {
	secret, err := l.z.Servers.Secret(ctx, client.ObjectKey{Namespace: l.server.Instance.Namespace, Name: secretName})
	switch {
	case err != nil:
		return bind9.Key{}, err
	case secret == nil:
		return bind9.Key{}, errNoKeys
	}
	ring, err := bind9.ReadRing(purpose, secret.Data, secret.Annotations)
	if err != nil {
		return bind9.Key{}, fmt.Errorf("%w: %w", errNoKeys, err)
	}
	key, ok := ring.Key()
	if !ok {
		return bind9.Key{}, errNoKeys
	}
	return key, nil
}

// put notes an instance, and tells Deliveries where that has changed.
func (l *look) put(i *v1beta1.Bind9Instance, now *host) {
	key, before := client.ObjectKeyFromObject(i), l.before
	st, unlock := l.z.state.Lock()
	st.hosts[key] = now
	unlock()
	if now.primary && (before == nil || before.signs != now.signs) {
		l.z.allocate(func(a *allocating) { a.in(key.Namespace) }) // before anything is delivered there
	}
	if before != nil && before.primary == now.primary && before.trouble == now.trouble &&
		before.transfer == now.transfer && slices.Equal(before.allowTransfer, now.allowTransfer) &&
		slices.Equal(before.pods, now.pods) && slices.Equal(before.ending, now.ending) {
		return
	}
	l.z.assigner.fleetChanged(i)
	if now.primary {
		place := &delivery.Place{Name: placeOf(key), Created: i.CreationTimestamp.Time, Noun: v1beta1.KindInstance,
			Kind: "bind9", Passing: true, Servers: now.servers()}
		if now.trouble != "" {
			o := controller.Not(controller.ReasonBackendNotReady, now.trouble)
			place.Problem = &o
		}
		l.z.protections.put(key, i.Spec.ClusterRef, place)
	} else if before != nil && before.primary {
		l.z.protections.delete(key)
	}
	l.z.visitAll(key)
}
