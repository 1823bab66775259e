package bindcar

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The OpenAPI 3.0 document is made of the routes and of the types of api.go, so it cannot say anything else than they
// do; tests compare it with what is really answered.

type object = map[string]any

// plainStatuses are answered in plain text, always or (400) when the body is no JSON.
var plainStatuses = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	http.StatusUnprocessableEntity,
	http.StatusMisdirectedRequest, http.StatusTooManyRequests}

// statuses are all that a route may answer with.
func (r route) statuses() []int {
	all := append([]int{r.success, http.StatusMisdirectedRequest}, r.errors...)
	if !r.open {
		all = append(all, http.StatusUnauthorized)
	}
	if !r.unlimited {
		all = append(all, http.StatusTooManyRequests)
	}
	if r.body != nil {
		all = append(all, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
			http.StatusUnprocessableEntity)
	}
	if strings.Contains(r.path, "{name}") {
		all = append(all, http.StatusBadRequest)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// document describes the routes.
func document(routes []route, version string) ([]byte, error) {
	schemas := object{}
	paths := map[string]object{}
	for _, r := range routes {
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		paths[r.path][strings.ToLower(r.method)] = r.describe(schemas)
	}
	return json.MarshalIndent(object{
		"openapi": "3.0.3",
		"info": object{"title": "bindcar", "version": version, "description": "Zones of a BIND server.", "license": object{
			"name": "Apache-2.0"}},
		"paths": paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
		},
	}, "", "  ")
}

func (r route) describe(schemas object) object {
	parameters := []object{{"name": PodHeader, "in": "header", "description": "the UID of the pod that the request is for",
		"schema": object{"type": "string"}}}
	if strings.Contains(r.path, "{name}") {
		parameters = append(parameters, object{"name": "name", "in": "path", "required": true,
			"description": "the zone; '/' as %2F", "schema": object{"type": "string"}})
	}
	operation := object{"summary": r.summary, "operationId": operationID(r), "parameters": parameters}
	if r.body != nil {
		operation["requestBody"] = object{"required": true,
			"content": object{"application/json": object{"schema": schemaOf(reflect.TypeOf(r.body), schemas)}}}
	}
	if !r.open {
		operation["security"] = []object{{"bearer": []string{}}}
	}
	responses := object{}
	for _, status := range r.statuses() {
		response := object{"description": http.StatusText(status)}
		if content := r.content(status, schemas); len(content) > 0 {
			response["content"] = content
		}
		if status == http.StatusTooManyRequests {
			response["headers"] = object{"Retry-After": object{"description": "seconds", "schema": object{"type": "integer"}}}
		}
		responses[strconv.Itoa(status)] = response
	}
	operation["responses"] = responses
	return operation
}

// content is what the body of a status can be.
func (r route) content(status int, schemas object) object {
	content := object{}
	add := func(body any) {
		content["application/json"] = object{"schema": schemaOf(reflect.TypeOf(body), schemas)}
	}
	switch {
	case status == r.success && r.media != "":
		content[r.media] = object{}
	case status == r.success || r.sameBody && status >= 500:
		add(r.answer)
	case status == http.StatusUnauthorized:
		add(AuthError{})
	case !slices.Contains(plainStatuses, status) || status == http.StatusBadRequest:
		add(ErrorBody{})
	}
	if slices.Contains(plainStatuses, status) && (status != http.StatusBadRequest || r.body != nil) {
		content["text/plain"] = object{"schema": object{"type": "string"}}
	}
	return content
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9]+`)

func operationID(r route) string {
	return strings.ToLower(r.method) + notInID.ReplaceAllString(strings.TrimPrefix(r.path, "/api"), "_")
}

// schemaOf describes a type; structs are put into schemas by their names.
func schemaOf(t reflect.Type, schemas object) object {
	switch t.Kind() {
	case reflect.Pointer:
		inner := schemaOf(t.Elem(), schemas)
		if t.Elem().Kind() != reflect.Struct {
			inner["nullable"] = true
		}
		return inner
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), schemas)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), schemas)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Uint16, reflect.Uint32, reflect.Int:
		schema := object{"type": "integer", "minimum": 0}
		if t.Kind() != reflect.Int {
			schema["maximum"] = uint64(1)<<t.Bits() - 1
		}
		return schema
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if schemas[name] == nil {
			schemas[name] = object{} // it may refer to itself
			schemas[name] = schemaOfStruct(t, schemas)
		}
		return object{"$ref": "#/components/schemas/" + name}
	}
	return object{"type": "string"}
}

func schemaOfStruct(t reflect.Type, schemas object) object {
	properties, required := object{}, []string{}
	for field := range t.Fields() {
		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		properties[name] = schemaOf(field.Type, schemas)
		if rest != "omitempty" {
			required = append(required, name)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) (int, any, error) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.document) // the caller may be gone
	return 0, nil, nil
}

// docsPage is for people, without scripts from anywhere.
const docsPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>bindcar</title>
<h1>bindcar</h1><p>The API is described by <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3).</p></html>
`

func (s *Server) docs(w http.ResponseWriter, _ *http.Request) (int, any, error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = w.Write([]byte(docsPage))
	return 0, nil, nil
}
