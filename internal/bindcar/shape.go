package bindcar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// maxBody bounds the body of a request, in octets.
const maxBody = 2 << 20

// decode reads a request's JSON body into a pointer to a struct of api.go. It is stricter than encoding/json, as the
// existing bindcar is: a field of a request that is missing, null or of another type is refused (422), names are
// case-sensitive, and nothing may follow. Unknown fields are left alone.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" && !(strings.HasPrefix(media, "application/") && strings.HasSuffix(media,
		"+json")) {
		return plain(http.StatusUnsupportedMediaType, "Expected request with `Content-Type: application/json`")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return plain(http.StatusRequestEntityTooLarge, "Failed to buffer the request body: length limit exceeded")
		}
		return plain(http.StatusBadRequest, "Failed to buffer the request body")
	}
	return decodeJSON(body, into)
}

func decodeJSON(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	if err == nil && d.More() {
		err = errors.New("trailing characters")
	}
	if err != nil {
		return plain(http.StatusBadRequest, "Failed to parse the request body as JSON: "+err.Error())
	}
	if err := shape("", value, reflect.ValueOf(into).Elem()); err != nil {
		return plain(http.StatusUnprocessableEntity, "Failed to deserialize the JSON body into the target type: "+err.Error())
	}
	return nil
}

// shape fills a Go value from JSON. at is the path for messages.
func shape(at string, value any, into reflect.Value) error {
	switch into.Kind() {
	case reflect.Pointer:
		if value == nil {
			return nil
		}
		into.Set(reflect.New(into.Type().Elem()))
		return shape(at, value, into.Elem())
	case reflect.Struct:
		return shapeStruct(at, value, into)
	case reflect.Slice:
		return shapeSlice(at, value, into)
	case reflect.Map:
		return shapeMap(at, value, into)
	case reflect.String:
		if s, ok := value.(string); ok {
			into.SetString(s)
			return nil
		}
	case reflect.Bool:
		if b, ok := value.(bool); ok {
			into.SetBool(b)
			return nil
		}
	case reflect.Uint16, reflect.Uint32:
		if n, ok := value.(json.Number); ok {
			v, err := strconv.ParseUint(n.String(), 10, into.Type().Bits())
			if err != nil {
				return fmt.Errorf("%s: invalid value: %s, expected %s", at, n, wanted(into.Type()))
			}
			into.SetUint(v)
			return nil
		}
	}
	return fmt.Errorf("%s: invalid type: %s, expected %s", at, found(value), wanted(into.Type()))
}

func shapeStruct(at string, value any, into reflect.Value) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%sinvalid type: %s, expected %s", colon(at), found(value), wanted(into.Type()))
	}
	for i := range into.NumField() {
		name, rest, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		v, present := object[name]
		optional := rest == "omitempty"
		if !present && !optional {
			return fmt.Errorf("%smissing field `%s`", colon(at), name)
		}
		if !present {
			continue
		}
		if err := shape(strings.TrimPrefix(at+"."+name, "."), v, into.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func shapeSlice(at string, value any, into reflect.Value) error {
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("%s: invalid type: %s, expected %s", at, found(value), wanted(into.Type()))
	}
	into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	for i, v := range list {
		if err := shape(at+"["+strconv.Itoa(i)+"]", v, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func shapeMap(at string, value any, into reflect.Value) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: invalid type: %s, expected %s", at, found(value), wanted(into.Type()))
	}
	into.Set(reflect.MakeMapWithSize(into.Type(), len(object)))
	for key, v := range object {
		element := reflect.New(into.Type().Elem()).Elem()
		if err := shape(at+"."+key, v, element); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(key), element)
	}
	return nil
}

func colon(at string) string {
	if at == "" {
		return ""
	}
	return at + ": "
}

// found names the type of a JSON value.
func found(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number `" + v.String() + "`"
	case string:
		return "string"
	case []any:
		return "sequence"
	}
	return "map"
}

// wanted names the JSON type of a Go type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Uint16, reflect.Uint32:
		return "u" + strconv.Itoa(t.Bits())
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a sequence"
	}
	return "a map"
}
