package command

import (
	"context"
	"encoding/json"

	"k8s.io/client-go/rest"
)

// An Asker asks an API server for objects of any kind.
type Asker struct{ rest.Interface }

// Read reads an object, or a list of objects.
func (a Asker) Read(ctx context.Context, path string, into any) error {
	text, err := a.Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Review creates a review, and reads what came of it.
func (a Asker) Review(ctx context.Context, path string, review any) error {
	text, err := json.Marshal(review)
	if err != nil {
		return err
	}
	answer, err := a.Post().AbsPath(path).SetHeader("Content-Type", "application/json").
		SetHeader("Accept", "application/json").Body(text).DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, review)
}

// Authorization is where reviews of what somebody may do are created.
const Authorization = "/apis/authorization.k8s.io/v1/"
