package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// namesOnly asks for objects without what they say.
const namesOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// names tells the names of the objects of the kinds that people call so, in the namespaces that are looked into. Of a
// kind that may not be seen it tells none.
func (f *Fetcher) names(ctx context.Context, called string, take func(string)) error {
	for _, r := range manifest.Resources() {
		if !r.IsCalled(called) {
			continue
		}
		at, resource, err := f.locate(r)
		if err != nil {
			return err
		}
		for _, namespace := range f.namespaces {
			switch {
			case resource == "":
			case r.Cluster:
				_ = f.namesAt(ctx, at+"/"+resource, take)
			default:
				_ = f.namesAt(ctx, at+"/namespaces/"+namespace+"/"+resource, take)
			}
		}
	}
	return nil
}

// namesAt tells the names of the objects at a path.
func (f *Fetcher) namesAt(ctx context.Context, path string, take func(string)) error {
	for next := ""; ; {
		text, err := f.Client.RESTClient().Get().AbsPath(path).Param("limit", strconv.Itoa(maxCompletions)).
			Param("continue", next).SetHeader("Accept", namesOnly).DoRaw(ctx)
		if err != nil {
			return err
		}
		var page metav1.PartialObjectMetadataList
		if err := json.Unmarshal(text, &page); err != nil {
			return fmt.Errorf("listing %s: %w", path, err)
		}
		for i := range page.Items {
			take(page.Items[i].Name)
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}
