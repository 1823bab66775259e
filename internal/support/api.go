package support

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// read returns what is at a path of the API, no more than most octets of it.
func (g *gatherer) read(ctx context.Context, path string, most int64, params ...string) ([]byte, error) {
	request := g.API.Get().AbsPath(path).SetHeader("Accept", "application/json, */*")
	for i := 0; i+1 < len(params); i += 2 {
		request.Param(params[i], params[i+1])
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, readable(err)
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if int64(len(text)) > most {
		return text[:most], errTooLarge
	}
	return text, nil
}

var errTooLarge = errors.New("it is larger than one file of a bundle may be")

// readable makes of what the API server refuses the sentence that people know.
func readable(err error) error {
	if apierrors.IsForbidden(err) {
		return errForbidden
	}
	return err
}

var errForbidden = errors.New("you may not read it")

// get reads an object.
func (g *gatherer) get(ctx context.Context, path string, into any) error {
	text, err := g.read(ctx, path, maxPart)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// page is how many objects are asked for at a time.
const page = 500

// list calls each with every object of a list, and ends when each does not want more.
func (g *gatherer) list(ctx context.Context, path string, each func(object map[string]any) error) error {
	for next := ""; ; {
		text, err := g.read(ctx, path, maxList, "limit", strconv.Itoa(page), "continue", next)
		if err != nil {
			return err
		}
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []map[string]any `json:"items"`
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		for _, o := range list.Items {
			if err := each(o); err != nil {
				return err
			}
		}
		if next = list.Metadata.Continue; next == "" {
			return nil
		}
	}
}

// maxList is how large a page of objects may be, each of which may have 1.5 MB in etcd.
const maxList = 512 << 20
