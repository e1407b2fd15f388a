// Calls a schema registry with franz-go's client: every function of it that a registry has to
// answer, errors included. Prints one line for each check that passed, and ends at the first that
// did not.
//
//	go run . http://127.0.0.1:8081
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

const (
	long   = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}`
	more   = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string","default":""}]}`
	text   = `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}`
	lines  = `{"type":"record","name":"Lines","fields":[{"name":"order","type":"Order"}]}`
	proto  = "syntax = \"proto3\";\n\nmessage Order {\n  int64 id = 1;\n}\n"
	object = `{"type":"object","properties":{"id":{"type":"integer"}}}`
)

type order struct {
	ID int64 `json:"id"`
}

func main() {
	client, err := sr.NewClient(sr.URLs(os.Args[1]))
	must(err)
	ctx := context.Background()
	registering(ctx, client)
	finding(ctx, client)
	referring(ctx, client)
	comparing(ctx, client)
	modes(ctx, client)
	contexts(ctx, client)
	deleting(ctx, client)
	serializing(ctx, client)
}

func registering(ctx context.Context, client *sr.Client) {
	types, err := client.SupportedTypes(ctx)
	must(err)
	for _, each := range []sr.SchemaType{sr.TypeAvro, sr.TypeJSON, sr.TypeProtobuf} {
		check("types", slices.Contains(types, each), types)
	}
	first, err := client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: long})
	must(err)
	again, err := client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: long})
	must(err)
	check("equal schemas have one id", first.ID == again.ID && first.Version == 1 && again.Version == 1, again)
	metadata := &sr.SchemaMetadata{Properties: map[string]string{"owner": "shop"}}
	second, err := client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: more, SchemaMetadata: metadata})
	must(err)
	check("versions", second.Version == 2 && second.ID != first.ID, second)
	check("metadata", second.SchemaMetadata != nil && second.SchemaMetadata.Properties["owner"] == "shop", second)
	_, err = client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: text})
	check("incompatible", is(err, sr.ErrIncompatibleSchema), err)
	_, err = client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: `{"type":"nothing"}`})
	check("invalid", is(err, sr.ErrInvalidSchema), err)
	_, err = client.CreateSchema(ctx, "orders-json", sr.Schema{Schema: object, Type: sr.TypeJSON})
	must(err)
	_, err = client.CreateSchema(ctx, "orders-proto", sr.Schema{Schema: proto, Type: sr.TypeProtobuf})
	must(err)
}

func finding(ctx context.Context, client *sr.Client) {
	subjects, err := client.Subjects(ctx)
	must(err)
	check("subjects", slices.Equal(subjects, []string{"orders-json", "orders-proto", "orders-value"}), subjects)
	versions, err := client.SubjectVersions(ctx, "orders-value")
	must(err)
	check("versions of a subject", slices.Equal(versions, []int{1, 2}), versions)
	latest, err := client.SchemaByVersion(ctx, "orders-value", -1)
	must(err)
	check("latest", latest.Version == 2 && latest.Schema.Schema == more, latest)
	byID, err := client.SchemaByID(ctx, latest.ID)
	must(err)
	check("by id", byID.Schema == more, byID)
	byText, err := client.SchemaTextByID(ctx, latest.ID)
	must(err)
	check("text by id", strings.TrimSpace(byText) == more, byText)
	byText, err = client.SchemaTextByVersion(ctx, "orders-proto", 1)
	must(err)
	check("text by version", strings.TrimSpace(byText) == strings.TrimSpace(proto), byText)
	check("guid", latest.GUID != "", latest)
	byGUID, err := client.SchemaByGUID(ctx, latest.GUID)
	must(err)
	check("by guid", byGUID.Schema.Schema == more, byGUID)
	ids, err := client.SchemaIDsByGUID(ctx, latest.GUID)
	must(err)
	check("ids by guid", len(ids) == 1 && ids[0].ID == latest.ID, ids)
	found, err := client.LookupSchema(ctx, "orders-value", sr.Schema{Schema: long})
	must(err)
	check("lookup", found.Version == 1, found)
	of, err := client.SubjectsByID(ctx, latest.ID)
	must(err)
	check("subjects by id", slices.Equal(of, []string{"orders-value"}), of)
	pairs, err := client.SchemaVersionsByID(ctx, latest.ID)
	must(err)
	check("versions by id", len(pairs) == 1 && pairs[0].Version == 2, pairs)
	all, err := client.AllSchemas(ctx)
	must(err)
	check("all schemas", len(all) == 4, all)
	_, err = client.SubjectVersions(ctx, "missing")
	check("no subject", is(err, sr.ErrSubjectNotFound), err)
	_, err = client.SchemaByVersion(ctx, "orders-value", 9)
	check("no version", is(err, sr.ErrVersionNotFound), err)
	_, err = client.SchemaByID(ctx, 99_999)
	check("no schema", is(err, sr.ErrSchemaNotFound), err)
}

func referring(ctx context.Context, client *sr.Client) {
	references := []sr.SchemaReference{{Name: "Order", Subject: "orders-value", Version: 2}}
	made, err := client.CreateSchema(ctx, "lines-value", sr.Schema{Schema: lines, References: references})
	must(err)
	found, err := client.SchemaReferences(ctx, "orders-value", 2)
	must(err)
	check("referenced by", len(found) == 1 && found[0].ID == made.ID, found)
	err = client.DeleteSchema(ctx, "orders-value", 2, sr.SoftDelete)
	check("a referenced schema stays", is(err, sr.ErrReferenceExists), err)
}

func comparing(ctx context.Context, client *sr.Client) {
	verdict, err := client.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), "orders-value", -1, sr.Schema{Schema: text})
	must(err)
	check("reasons", !verdict.Is && len(verdict.Messages) > 0, verdict)
	for _, each := range client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFullTransitive}, "orders-value", "") {
		must(each.Err)
		check("set compatibility", each.Level == sr.CompatFullTransitive, each)
	}
	for _, each := range client.Compatibility(ctx, "orders-value", "") {
		must(each.Err)
		check("compatibility", each.Level == sr.CompatFullTransitive, each)
	}
	for _, each := range client.ResetCompatibility(ctx, "orders-value", "") {
		must(each.Err)
	}
}

func modes(ctx context.Context, client *sr.Client) {
	for _, each := range client.SetMode(ctx, sr.ModeReadOnly, "frozen") {
		must(each.Err)
	}
	_, err := client.CreateSchema(ctx, "frozen", sr.Schema{Schema: long})
	check("read-only", is(err, sr.ErrOperationNotPermitted), err)
	for _, each := range client.Mode(ctx, "frozen") {
		must(each.Err)
		check("mode", each.Mode == sr.ModeReadOnly, each)
	}
	for _, each := range client.ResetMode(ctx, "frozen") {
		must(each.Err)
	}
	for _, each := range client.SetMode(ctx, sr.ModeImport, "imported") {
		must(each.Err)
	}
	made, err := client.CreateSchemaWithIDAndVersion(ctx, "imported", sr.Schema{Schema: `"int"`}, 7_000, 3)
	must(err)
	check("import", made.ID == 7_000 && made.Version == 3, made)
}

func contexts(ctx context.Context, client *sr.Client) {
	other := sr.InContext(ctx, ".other")
	made, err := client.CreateSchema(other, "orders-value", sr.Schema{Schema: `"bytes"`})
	must(err)
	check("ids of a context", made.ID == 1, made)
	found, err := client.Contexts(ctx)
	must(err)
	check("contexts", slices.Contains(found, ".other"), found)
}

func deleting(ctx context.Context, client *sr.Client) {
	_, err := client.DeleteSubject(ctx, "orders-json", sr.HardDelete)
	check("soft delete comes first", is(err, sr.ErrSubjectNotSoftDeleted), err)
	for _, how := range []sr.DeleteHow{sr.SoftDelete, sr.HardDelete} {
		_, err = client.DeleteSubject(ctx, "orders-json", how)
		must(err)
		must(client.DeleteSchema(ctx, "lines-value", 1, how))
	}
	versions, err := client.DeleteSubject(ctx, "orders-proto", sr.SoftDelete)
	must(err)
	check("delete a subject", slices.Equal(versions, []int{1}), versions)
	subjects, err := client.Subjects(sr.WithParams(ctx, sr.ShowDeleted))
	must(err)
	check("deleted subjects", slices.Contains(subjects, "orders-proto") && !slices.Contains(subjects, "orders-json"), subjects)
	_, err = client.SchemaByVersion(ctx, "lines-value", 1)
	check("hard delete", is(err, sr.ErrSubjectNotFound), err)
}

func serializing(ctx context.Context, client *sr.Client) {
	made, err := client.SchemaByVersion(ctx, "orders-value", 1)
	must(err)
	var serde sr.Serde
	serde.Register(made.ID, order{}, sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal))
	data, err := serde.Encode(order{7})
	must(err)
	id, _, err := serde.DecodeID(data)
	must(err)
	var back order
	must(serde.Decode(data, &back))
	check("wire format", id == made.ID && data[0] == 0 && back.ID == 7, data)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(name string, holds bool, found any) {
	if !holds {
		panic(fmt.Sprintf("%s: found %+v", name, found))
	}
	fmt.Println("ok", name)
}

// is compares the code of the registry's answer.
func is(err error, wanted *sr.Error) bool {
	var answered *sr.ResponseError
	return errors.As(err, &answered) && answered.ErrorCode == wanted.Code
}
