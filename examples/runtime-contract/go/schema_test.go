package longhaul

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// The cases of docs/runtime-contract/answers.json: answers that fit and that don't.
func TestAnswers(t *testing.T) {
	written, err := os.ReadFile("../../../docs/runtime-contract/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name        string
		Property    map[string]any
		Fit, Misfit []any
	}
	if err := json.Unmarshal(written, &cases); err != nil || len(cases) < 10 {
		t.Fatal(len(cases), err)
	}
	for _, each := range cases {
		schema := map[string]any{"properties": map[string]any{"x": each.Property}, "required": []any{"x"}}
		for _, value := range each.Fit {
			if problems := problemsOf(schema, map[string]any{"x": value}); len(problems) > 0 {
				t.Errorf("%s: %v fits, but: %v", each.Name, value, problems)
			}
		}
		for _, value := range each.Misfit {
			if problems := problemsOf(schema, map[string]any{"x": value}); len(problems) == 0 {
				t.Errorf("%s: %v does not fit", each.Name, value)
			}
		}
	}
}

func TestFields(t *testing.T) {
	schema := map[string]any{
		"type": "object",
		"properties": map[string]any{
			"a": map[string]any{"type": "string"},
			"b": map[string]any{"type": "integer", "default": 3},
		},
		"required":             []string{"a"},
		"additionalProperties": false,
	}
	expected := map[string]any{"a": "x", "b": 3}
	if complete := withDefaults(schema, map[string]any{"a": "x"}); !reflect.DeepEqual(complete, expected) {
		t.Errorf("got %v", complete)
	}
	for name, content := range map[string]map[string]any{
		"content.a: missing":          {},
		"content.c: unknown field":    {"a": "x", "c": 1},
		"content: expected an object": nil,
	} {
		if problems := problemsOf(schema, content); !reflect.DeepEqual(problems, []string{name}) {
			t.Errorf("expected %s; got %v", name, problems)
		}
	}
}
