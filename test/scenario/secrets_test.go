package scenario

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// publicEntries are those of Secrets that are no secret, such as a region.
var publicEntries = regexp.MustCompile(`(?i)(crt|region|id|name|url|address|host|server|project|zone)$`)

// minSecret is how long a secret is that is searched for: a shorter one may be a word.
const minSecret = 12

// keepsSecrets requires that nothing of what the Secrets of a test hold is in the operator's log, in an event or in an
// object of ours.
func (s *scene) keepsSecrets() {
	ctx := context.Background()
	var secrets corev1.SecretList
	if err := s.client.List(ctx, &secrets); err != nil {
		return // the test has ended its API server
	}
	texts := map[string]string{"the log": s.log.String()}
	for what, list := range map[string]client.ObjectList{"an event": &eventsv1.EventList{}, "a Zone": &kubizone.ZoneList{},
		"a Record": &kubizone.RecordList{}, "a Backend": &zonefold.BackendList{}} {
		if err := s.client.List(ctx, list, client.Limit(2000)); err != nil {
			s.t.Errorf("listing %s: %v", what, err)
			continue
		}
		text, err := json.Marshal(list)
		if err != nil {
			s.t.Errorf("writing %s: %v", what, err)
		}
		texts[what] = string(text)
	}
	for i := range secrets.Items {
		o := &secrets.Items[i]
		for entry, value := range o.Data {
			secret := strings.TrimSpace(string(value))
			if len(secret) < minSecret || strings.Contains(secret, "\n") || publicEntries.MatchString(entry) {
				continue
			}
			for what, text := range texts {
				if strings.Contains(text, secret) {
					s.t.Errorf("%s shows the entry %s of Secret %s/%s", what, entry, o.Namespace, o.Name)
				}
			}
		}
	}
}
