#include <gmock/gmock.h>

#include "reference/boxing/kernel.h"
#include "reference/boxing/schema.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

using testing::HasSubstr;

TEST(SchemaTest, PrintsWhatItParsed) {
  for (const char* text : {
           "demo::f() -> ()",
           "demo::f(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d) -> Tensor",
           "demo::f.out(Tensor(a!) self, int[2] size=1, *, Tensor? x=None) -> Tensor(a!)",
           "demo::f(Tensor(a)[] x, SymInt[] s, float? y=1e-3, bool z=True, str t=\"a)\", Scalar u=-2.5) -> (Tensor, "
           "int n)",
           "f(int[]? a=None, float[] b=[1.0, 2]) -> (int[] only)",
           "f(Tensor(a -> *) a, Tensor(b! -> *)[] b) -> Tensor(a)[]",
           "f(ScalarType a=float, ScalarType? b=long, ScalarType[] c=[6], MemoryFormat d=contiguous_format, "
           "Layout? e=strided, int f=Mean) -> (Layout x, ScalarType)",
           "f(Device a='cpu', Device? b=None, Generator? c=None) -> Device",
       }) {
    EXPECT_EQ(Print(ParseSchema(text)), text);
  }
  EXPECT_EQ(Print(ParseSchema("  demo::f( Tensor   a ,int b = 3 )->Tensor ")), "demo::f(Tensor a, int b=3) -> Tensor");
}

TEST(SchemaTest, RefusesWithAColumn) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      ParseSchema(text);
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), ErrorClass::kInvalidArgument) << text;
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message("demo::f(Foo a) -> Tensor"), HasSubstr("column 9: expected a type"));
  EXPECT_THAT(message("demo::f(Dimname a) -> Tensor"), HasSubstr("column 9: expected a type"));
  EXPECT_THAT(message("demo::f(ScalarType a=double) -> ()"), HasSubstr("default of type ScalarType, found 'double'"));
  EXPECT_THAT(message("demo::f(ScalarType a=None) -> ()"), HasSubstr("default of type ScalarType, found 'None'"));
  EXPECT_THAT(message("demo::f(ScalarType a=strided) -> ()"), HasSubstr("default of type ScalarType, found 'strided'"));
  EXPECT_THAT(message("demo::f(Layout a=float) -> ()"), HasSubstr("default of type Layout, found 'float'"));
  EXPECT_THAT(message("demo::f(MemoryFormat a=channels_last) -> ()"), HasSubstr("default of type MemoryFormat"));
  EXPECT_THAT(message("demo::f(Device a=cpu) -> ()"), HasSubstr("default of type Device, found 'cpu'"));
  EXPECT_THAT(message("demo::f(Generator? a=0) -> ()"), HasSubstr("default of type Generator?, found '0'"));
  EXPECT_THAT(message("demo::f(int a=Sum) -> ()"), HasSubstr("default of type int, found 'Sum'"));
  EXPECT_THAT(message("demo::f(SymInt a=Mean) -> ()"), HasSubstr("default of type SymInt, found 'Mean'"));
  EXPECT_THAT(message("demo::f(Device(a) a) -> ()"), HasSubstr("only a Tensor has an alias mark"));
  EXPECT_THAT(message("demo::f(Tensor(a -> b) a) -> ()"), HasSubstr("column 21: expected '*' after '->'"));
  EXPECT_THAT(message("demo::f(Tensor a -> Tensor"), HasSubstr("column 18: expected ',' or ')', found '-'"));
  EXPECT_THAT(message("demo::f(Tensor a, int a) -> Tensor"), HasSubstr("here twice"));
  EXPECT_THAT(message("demo::f(int a=1, int b) -> Tensor"), HasSubstr("no default"));
  EXPECT_THAT(message("demo::f.default(int a) -> Tensor"), HasSubstr("'default'"));
  EXPECT_THAT(message("demo::f.__x(int a) -> Tensor"), HasSubstr("two underscores"));
  EXPECT_THAT(message("demo::f(int(a!) a) -> Tensor"), HasSubstr("alias"));
  EXPECT_THAT(message("demo::f(int a=1.5) -> Tensor"), HasSubstr("default of type int"));
  EXPECT_THAT(message("demo::f(int a=99999999999999999999) -> Tensor"), HasSubstr("default of type int"));
  EXPECT_THAT(message("demo::f(*) -> Tensor"), HasSubstr("after '*'"));
  EXPECT_THAT(message("demo::f(*, *, int a) -> Tensor"), HasSubstr("twice"));
  EXPECT_THAT(message("demo::f(int[0] a) -> Tensor"), HasSubstr("list size"));
  EXPECT_THAT(message("demo::f(int a) -> Tensor x"), HasSubstr("the end of the schema"));
  EXPECT_THAT(message("demo::f(str a=\"open) -> Tensor"), HasSubstr("default of type str"));
  EXPECT_THAT(message(""), HasSubstr("found the end"));
  std::string many = "demo::f(";
  for (int i = 0; i < 64; ++i) many += (i == 0 ? "int a" : ", int a") + std::to_string(i);
  EXPECT_EQ(message(many + ") -> ()"), "accepted");
  EXPECT_THAT(message(many + ", int b) -> ()"), HasSubstr("at most 64"));
}

TEST(SchemaTest, InfersFromCpp) {
  using F = std::tuple<int64_t, Tensor>(const Tensor&, std::int64_t, TensorList, std::optional<double>,
                                        std::string_view, OptionalTensorList, SymInt, const Scalar&);
  Schema schema = SignatureOf<F>().schema();
  schema.name = ParseOperatorName("demo::f");
  EXPECT_EQ(Print(schema),
            "demo::f(Tensor _0, int _1, Tensor[] _2, float? _3, str _4, Tensor?[] _5, SymInt _6, Scalar _7) -> "
            "(int _0, Tensor _1)");
  EXPECT_TRUE(SignatureOf<F>().symbolic);
  EXPECT_FALSE(SignatureOf<void(Tensor)>().symbolic);
  EXPECT_TRUE(SignatureOf<std::vector<SymInt>()>().symbolic);
  EXPECT_FALSE(Same(SignatureOf<Tensor(Tensor)>(), SignatureOf<Tensor(const Tensor&)>()));
}

TEST(SchemaTest, DifferencesNameThePosition) {
  const Schema two = ParseSchema("f(Tensor a, SymInt b) -> Tensor");
  EXPECT_EQ(Difference(two, SignatureOf<Tensor(const Tensor&, std::int64_t)>().schema()), "");
  EXPECT_EQ(Difference(two, SignatureOf<Tensor(const Tensor&, SymInt)>().schema()), "");
  EXPECT_EQ(Difference(two, SignatureOf<Tensor(const Tensor&)>().schema()), "the schema has 2 arguments, C++ has 1");
  EXPECT_EQ(Difference(two, SignatureOf<Tensor(const Tensor&, double)>().schema()),
            "argument 2 is SymInt in the schema and float in C++");
  EXPECT_EQ(Difference(ParseSchema("f(ScalarType a) -> ()"), SignatureOf<void(std::int64_t)>().schema()),
            "argument 1 is ScalarType in the schema and int in C++");
  EXPECT_EQ(Difference(ParseSchema("f(Device a) -> ()"), SignatureOf<void(std::string_view)>().schema()),
            "argument 1 is Device in the schema and str in C++");
  EXPECT_EQ(Difference(two, SignatureOf<void(const Tensor&, SymInt)>().schema()), "the schema has 1 return, C++ has 0");
  EXPECT_EQ(Difference(ParseSchema("f(int a) -> ()"), SignatureOf<void(SymInt)>().schema()),
            "argument 1 is int in the schema and SymInt in C++");
}

TEST(ValueTest, CountsReferences) {
  const Tensor tensor = Tensor::Make(KeySet());
  {
    Value value(tensor);
    const Value copy = value;
    EXPECT_EQ(tensor.use_count(), 3);
    Value list(std::vector<Value>{value, Value::None()});
    EXPECT_EQ(tensor.use_count(), 4);
    const Value same = list;
    EXPECT_EQ(tensor.use_count(), 4);
    EXPECT_TRUE(std::move(value).ToTensor().is_same(tensor));
    EXPECT_TRUE(value.is_none());
    Value text("text");
    text = Value("other");
    EXPECT_EQ(text.ToString(), "other");
  }
  EXPECT_EQ(tensor.use_count(), 1);
}

TEST(StackTest, GrowsAndKeepsWhatIsBelow) {
  Stack stack;
  for (int i = 0; i < 40; ++i) stack.Push(Value(i));
  EXPECT_EQ(stack.size(), 40u);
  EXPECT_EQ(stack.Top(2)[0].ToInt(), 38);
  stack.DropBelow(1, 38);
  EXPECT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack.Pop().ToInt(), 39);
  EXPECT_EQ(stack.Pop().ToInt(), 0);
}

TEST(SchemaTypeTest, TakesOnlyItsOwnKind) {
  const auto takes = [](const char* type, const Value& value) {
    return ParseSchema("f(" + std::string(type) + " a) -> ()").arguments[0].type.Takes(value);
  };
  const Value tensor((Tensor()));
  EXPECT_TRUE(takes("Tensor", tensor));
  EXPECT_FALSE(takes("Tensor", Value::None()));
  EXPECT_TRUE(takes("Tensor?", Value::None()));
  EXPECT_FALSE(takes("float", Value(3)));
  EXPECT_FALSE(takes("int", Value(3.0)));
  EXPECT_TRUE(takes("SymInt", Value(3)));
  EXPECT_TRUE(takes("Scalar", Value(true)));
  EXPECT_FALSE(takes("Scalar", Value("3")));
  for (const char* type : {"ScalarType", "MemoryFormat", "Layout"}) {
    EXPECT_TRUE(takes(type, Value(6))) << type;
    EXPECT_FALSE(takes(type, Value("float32"))) << type;
    EXPECT_FALSE(takes(type, Value(true))) << type;
  }
  EXPECT_TRUE(takes("ScalarType?", Value::None()));
  EXPECT_FALSE(takes("ScalarType", Value::None()));
  EXPECT_TRUE(takes("Device", Value("cpu")));
  EXPECT_FALSE(takes("Device", Value(0)));
  EXPECT_TRUE(takes("Generator?", Value::None()));
  EXPECT_FALSE(takes("Generator?", Value("cpu")));
  EXPECT_FALSE(takes("Generator", Value::None()));
  EXPECT_TRUE(takes("int[]", Value(std::vector<Value>{Value(1)})));
  EXPECT_FALSE(takes("int[]", Value(std::vector<Value>{Value(1), Value(1.0)})));
  EXPECT_FALSE(takes("Tensor[]", Value(std::vector<Value>{tensor, Value::None()})));
  EXPECT_TRUE(takes("Tensor?[]", Value(std::vector<Value>{tensor, Value::None()})));
  EXPECT_TRUE(takes("int[]?", Value::None()));
  EXPECT_FALSE(takes("int[]", Value::None()));
}

}  // namespace
}  // namespace plumbline::reference
