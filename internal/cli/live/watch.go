package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// An event is one of a watch.
type event struct {
	Type   watch.EventType `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watch takes over what becomes of the objects of a list until the API server ends the watch.
func (o *Objects) watch(ctx context.Context, p *part) error {
	request := o.client.Get().AbsPath(p.path).Param("watch", "1").Param("resourceVersion", p.version).
		Param("allowWatchBookmarks", "true").SetHeader("Accept", "application/json")
	if o.limits.Watch > 0 {
		request.Param("timeoutSeconds", strconv.Itoa(int(max(1, o.limits.Watch/time.Second))))
	}
	stream, err := request.Stream(ctx)
	if err != nil {
		return fmt.Errorf("watching %s: %w", p.path, err)
	}
	defer stream.Close()
	o.say(p, nil)
	for events := json.NewDecoder(stream); ; {
		var e event
		switch err := events.Decode(&e); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("watching %s: %w", p.path, err)
		}
		if err := o.take(p, e); err != nil {
			return fmt.Errorf("watching %s: %w", p.path, err)
		}
	}
}

// take takes over one event.
func (o *Objects) take(p *part, e event) error {
	if e.Type == watch.Error {
		status := metav1.Status{}
		if err := json.Unmarshal(e.Object, &status); err != nil {
			return err
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	var head struct {
		Metadata struct {
			Version string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(e.Object, &head); err != nil {
		return err
	}
	p.version = head.Metadata.Version
	if e.Type == watch.Bookmark {
		return nil
	}
	in, err := manifest.Read(manifest.Options{Namespace: o.namespace,
		Texts: []manifest.Text{{Name: p.path, Text: e.Object}}})
	if err != nil {
		return err
	}
	o.mu.Lock()
	for _, object := range in.Objects {
		i, found := slices.BinarySearchFunc(p.objects, object, compare)
		switch {
		case e.Type == watch.Deleted && found:
			p.objects = slices.Delete(p.objects, i, i+1)
		case e.Type == watch.Deleted:
		case found:
			p.objects[i] = object
		default:
			p.objects = slices.Insert(p.objects, i, object)
		}
	}
	o.mu.Unlock()
	o.tell()
	return nil
}

// relist lists the objects again. Those that are as they were stay the same.
func (o *Objects) relist(ctx context.Context, p *part) error {
	texts, version, err := Read(ctx, o.client, p.path, o.limits.Octets)
	if err != nil {
		return err
	}
	in, err := manifest.Read(manifest.Options{Namespace: o.namespace, Texts: texts})
	if err != nil {
		return err
	}
	slices.SortFunc(in.Objects, compare)
	o.mu.Lock()
	same := len(in.Objects) == len(p.objects)
	for i, object := range in.Objects {
		if j, found := slices.BinarySearchFunc(p.objects, object, compare); found &&
			bytes.Equal(p.objects[j].JSON, object.JSON) {
			in.Objects[i] = p.objects[j]
		} else {
			same = false
		}
	}
	p.objects, p.version = in.Objects, version
	o.mu.Unlock()
	if !same {
		o.tell()
	}
	return nil
}

// listPage is how many objects are asked for at a time.
const listPage = 500

// ErrTooMuch says that a list has more than is read of it.
var ErrTooMuch = errors.New("there are too many objects to read")

// Read lists all objects at a path, a page each, and returns the version of the list. Pages that the API server does
// not remember any more are read again. More octets than most are not read; 0 is no limit.
func Read(
	ctx context.Context, client Client, path string, most int64,
) (texts []manifest.Text, version string, err error) {
	read := int64(0)
	for next, tries := "", 0; ; {
		text, err := client.Get().AbsPath(path).Param("limit", strconv.Itoa(listPage)).
			Param("continue", next).SetHeader("Accept", "application/json").DoRaw(ctx)
		if apierrors.IsResourceExpired(err) && tries < 3 {
			next, texts, read = "", nil, 0
			tries++
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("listing %s: %w", path, err)
		}
		if read += int64(len(text)); most > 0 && read > most {
			return nil, "", fmt.Errorf("listing %s: %w", path, ErrTooMuch)
		}
		var page manifest.List
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, "", fmt.Errorf("listing %s: %w", path, err)
		}
		texts = append(texts, manifest.Text{Name: fmt.Sprintf("%s?%d", path, len(texts)), List: &page})
		if version = page.Metadata.ResourceVersion; page.Metadata.Continue == "" {
			return texts, version, nil
		}
		next = page.Metadata.Continue
	}
}
