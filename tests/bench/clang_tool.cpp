// A small clang tool: prints the names of the functions of the files on its command line.
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/CommonOptionsParser.h>
#include <clang/Tooling/Tooling.h>

namespace {

struct Visitor : clang::RecursiveASTVisitor<Visitor> {
  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    llvm::outs() << function->getQualifiedNameAsString() << "\n";
    return true;
  }
};

struct Consumer : clang::ASTConsumer {
  void HandleTranslationUnit(clang::ASTContext& context) override {
    Visitor().TraverseDecl(context.getTranslationUnitDecl());
  }
};

struct Action : clang::ASTFrontendAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>();
  }
};

llvm::cl::OptionCategory category("names of functions");

}  // namespace

int main(int argc, const char** argv) {
  auto options = clang::tooling::CommonOptionsParser::create(argc, argv, category);
  if (!options) return 1;
  clang::tooling::ClangTool tool(options->getCompilations(), options->getSourcePathList());
  return tool.run(clang::tooling::newFrontendActionFactory<Action>().get());
}
