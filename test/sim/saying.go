package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// says notes it as wrong if the status of an object, as JSON, has not each line of a text in it by now; of a line after
// "not ", if it has.
func (w *World) says(kind, name, text string) error {
	r, err := w.refOf(kind, name)
	if err != nil {
		return err
	}
	object, err := w.api.get(r)
	if err != nil {
		w.fail(fmt.Sprintf("%s is to say something, and is not there: %v", r, err))
		return nil
	}
	for line := range strings.Lines(text) {
		if wrong := saying(object, strings.TrimSpace(line)); wrong != "" {
			w.fail(fmt.Sprintf("%s %s", r, wrong))
		}
	}
	return nil
}

// saying says what is wrong with the status of an object, by a line of says.
func saying(object *unstructured.Unstructured, line string) string {
	text, err := json.Marshal(object.Object["status"])
	if err != nil {
		return err.Error()
	}
	what, denied := strings.CutPrefix(line, "not ")
	switch is := strings.Contains(string(text), what); {
	case is && denied:
		return fmt.Sprintf("says %s: %s", what, text)
	case !is && !denied:
		return fmt.Sprintf("does not say %s: %s", what, text)
	}
	return ""
}

// A silence is what the status of an object is never to say; after "not ", what it always is to.
type silence struct {
	of    ref
	about string
}

// never has it be noted as wrong if the status of an object ever has a line of a text in it, from now on.
func (w *World) never(kind, name, text string) error {
	r, err := w.refOf(kind, name)
	if err != nil {
		return err
	}
	w.eyes.mu.Lock()
	defer w.eyes.mu.Unlock()
	for line := range strings.Lines(text) {
		w.eyes.silences = append(w.eyes.silences, silence{r, strings.TrimSpace(line)})
	}
	return nil
}

// listens looks for what the status of an object is never to say. mu is held.
func (w *witness) listens(r ref, object *unstructured.Unstructured) {
	for _, s := range w.silences {
		if s.of != r || object == nil {
			continue
		}
		what, always := strings.CutPrefix(s.about, "not ")
		if !always {
			what = "not " + s.about
		}
		if wrong := saying(object, what); wrong != "" {
			w.notef("%s %s", r, wrong)
		}
	}
}

// mostReads notes it as wrong if a server was asked for a whole zone more often than a step says.
func (w *World) mostReads(s *server, words []string) error {
	most, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.reads > most {
		w.wrong = append(w.wrong, fmt.Sprintf("%s was asked for a whole zone %d times by now, and at most %d were to be",
			words[1], s.reads, most))
	}
	return nil
}
