package route53

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Apply makes the changes in one request. The service says later that all its name servers have them; that is waited
// for after the last batch, since it carries out a zone's requests one after the other.
func (z *Zone) Apply(ctx context.Context, name dnsname.Name, batch backend.Batch) (backend.Result, error) {
	result, err := z.apply(ctx, name, batch)
	if err != nil {
		return backend.Result{}, fmt.Errorf("changing hosted zone %s (%s) of Route 53: %w", z.id, z.name, err)
	}
	return result, nil
}

func (z *Zone) apply(ctx context.Context, name dnsname.Name, batch backend.Batch) (backend.Result, error) {
	if err := z.holds(name); err != nil {
		return backend.Result{}, err
	}
	var result backend.Result
	if batch.Expect != nil {
		result.SOA = *batch.Expect // the service's own, which it does not count up
	}
	if len(batch.Changes) == 0 {
		return result, nil
	}
	sets, rejected, err := z.changes(ctx, batch.Changes, false)
	if err != nil {
		return backend.Result{}, err
	}
	id, err := z.send(ctx, sets)
	if mismatched(err) || conflicting(err) && slices.ContainsFunc(batch.Changes, balanceable) {
		if sets, rejected, err = z.changes(ctx, batch.Changes, true); err != nil {
			return backend.Result{}, err
		}
		id, err = z.send(ctx, sets)
	}
	if err != nil {
		return backend.Result{}, err
	}
	result.Rejected = rejected
	if id != "" && batch.Last {
		result.Pending = func(ctx context.Context) (bool, error) { return z.done(ctx, id) }
	}
	return result, nil
}

// send makes the request and returns the ID of the change; "" when there is nothing to change.
func (z *Zone) send(ctx context.Context, changes []types.Change) (string, error) {
	if len(changes) == 0 {
		return "", nil
	}
	ask := &route53.ChangeResourceRecordSetsInput{HostedZoneId: &z.id, ChangeBatch: &types.ChangeBatch{Changes: changes}}
	answer, err := call(ctx, z.client, ask, z.client.api.ChangeResourceRecordSets)
	if err != nil {
		return "", err
	}
	if answer.ChangeInfo == nil || answer.ChangeInfo.Status == types.ChangeStatusInsync {
		return "", nil
	}
	return aws.ToString(answer.ChangeInfo.Id), nil
}

// changes are a batch as the service takes it. A set is deleted by naming all that it holds: where that is not known,
// or anew is said, it is looked up, and a set that is not there is left out.
func (z *Zone) changes(ctx context.Context, changes []plan.Change,
	anew bool) ([]types.Change, []backend.Rejection, error) {
	there, err := z.there(ctx, changes, anew)
	if err != nil {
		return nil, nil, err
	}
	asked := map[rr.Key]bool{}
	for _, c := range changes {
		asked[c.Key] = true
	}
	var out []types.Change
	var rejected []backend.Rejection
	for _, c := range changes {
		if c.Deletes() && believed(c) && !anew {
			for _, set := range held(c.Have) {
				out = append(out, types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: set})
			}
			continue
		}
		wanted := held(c.Want)
		goes := leaving(c, wanted, there[c.Key.Name], asked)
		if len(goes) > 0 && goes[0].SetIdentifier != nil {
			rejected = append(rejected, backend.Rejection{Key: c.Key, Reason: fmt.Sprintf(
				"%s has %d sets of a routing policy, which only AWS supports; remove them there", where(goes[0]), len(goes))})
			continue
		}
		for _, set := range goes {
			out = append(out, types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: set})
		}
		for _, set := range wanted {
			out = append(out, types.Change{Action: types.ChangeActionUpsert, ResourceRecordSet: set})
		}
	}
	return out, rejected, nil
}

// believed reports whether it is believed to be known what a change deletes.
func believed(c plan.Change) bool { return len(c.Have.Data) > 0 }

// leaving are the sets at a name that a change has go: one that is deleted, and what stands for an alias in another
// way. What another change of the batch is about is its own business.
func leaving(c plan.Change, wanted []*types.ResourceRecordSet, there []types.ResourceRecordSet,
	asked map[rr.Key]bool) (out []*types.ResourceRecordSet) {
	for i := range there {
		set := &there[i]
		same := set.Type == typeName(c.Key.Type)
		switch {
		case slices.ContainsFunc(wanted, func(w *types.ResourceRecordSet) bool { return w.Type == set.Type }):
			// it is overwritten
		case same && (c.Deletes() || ours(set)):
			out = append(out, set)
		case !same && standsIn(c, set) && !askedFor(asked, c.Key.Name, set):
			out = append(out, set)
		}
	}
	return out
}

func askedFor(asked map[rr.Key]bool, name dnsname.Name, set *types.ResourceRecordSet) bool {
	t, err := typeOf(set.Type)
	return err == nil && asked[rr.Key{Name: name, Type: t}]
}

// there looks up what is at the names of changes that need to know, each name alone or with a listing of the zone.
func (z *Zone) there(ctx context.Context, changes []plan.Change,
	anew bool) (map[dnsname.Name][]types.ResourceRecordSet, error) {
	there := map[dnsname.Name][]types.ResourceRecordSet{}
	for _, c := range changes {
		if c.Deletes() && (anew || !believed(c)) || balanced(c.Want) || anew && balanceable(c) {
			there[c.Key.Name] = nil
		}
	}
	if len(there) <= fewKeys {
		for name := range there {
			sets, err := z.look(ctx, rr.Key{Name: name})
			if err != nil {
				return nil, err
			}
			there[name] = sets
		}
		return there, nil
	}
	err := z.list(ctx, nil, func(in *types.ResourceRecordSet) error {
		name, err := parseName(aws.ToString(in.Name))
		if err != nil {
			return broken("a set that cannot be read: %w", err)
		}
		if _, asked := there[name]; asked {
			there[name] = append(there[name], *in)
		}
		return nil
	})
	return there, err
}

// done asks whether a change has come to all name servers.
func (z *Zone) done(ctx context.Context, id string) (bool, error) {
	answer, err := call(ctx, z.client, &route53.GetChangeInput{Id: &id}, z.client.api.GetChange)
	if e, ok := errors.AsType[*backend.Error](err); ok && e.Class == backend.ErrRejected {
		e.Class = backend.ErrUnavailable // the question was refused, and not the change
	}
	if err != nil {
		return false, fmt.Errorf("asking for change %s of Route 53: %w", id, err)
	}
	return answer.ChangeInfo != nil && answer.ChangeInfo.Status == types.ChangeStatusInsync, nil
}
