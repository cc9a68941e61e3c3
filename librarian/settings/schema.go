package settings

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Schema is the JSON Schema (draft-07, which editors' YAML plug-ins read) of a layer's file, made from [File].
func Schema() []byte {
	root := schemaOf(reflect.TypeFor[File](), "")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "librarian's settings of an organisation or a repository"
	root["description"] = "librarian.yml in an organisation's .github repository, or .github/librarian.yml in a repository; on the default branch."
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil { // it is made of strings and numbers
		panic(err)
	}
	return append(out, '\n')
}

// The forms that texts can have, as regular expressions of JSON Schema.
var forms = map[string]string{
	"pattern":  `^[A-Za-z0-9._*?-]+/[A-Za-z0-9._*?-]+$`,
	"repo":     `^[A-Za-z0-9_][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._][A-Za-z0-9._-]{0,99}$`,
	"duration": `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`,
}

func schemaOf(t reflect.Type, tag reflect.StructTag) map[string]any {
	out := map[string]any{}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), tag)
	case reflect.Struct:
		properties := map[string]any{}
		for f := range t.Fields() {
			one := schemaOf(f.Type, f.Tag)
			one["description"] = f.Tag.Get("doc")
			properties[f.Tag.Get("yaml")] = one
		}
		out["type"], out["properties"], out["additionalProperties"] = "object", properties, false
	case reflect.Slice:
		bound := maxList
		if m, err := strconv.Atoi(tag.Get("max")); err == nil {
			bound = m
		}
		out["type"], out["items"], out["maxItems"] = "array", schemaOf(t.Elem(), tag), bound
	case reflect.Bool:
		out["type"] = "boolean"
	case reflect.Int64:
		out["type"] = "integer"
		minimum(out, tag)
	case reflect.Float64:
		out["type"] = "number"
		minimum(out, tag)
	default:
		out["type"], out["minLength"], out["maxLength"] = "string", 1, maxText
		if e := tag.Get("enum"); e != "" {
			out["enum"] = strings.Split(e, ",")
		}
		if p := forms[tag.Get("form")]; p != "" {
			out["pattern"] = p
		}
	}
	return out
}

func minimum(out map[string]any, tag reflect.StructTag) {
	if least, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil {
		out["minimum"] = least
	}
}
