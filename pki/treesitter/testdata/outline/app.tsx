type Props = { name: string };

/** Says hello. */
export function Hello({ name }: Props) {
  const onClick = () => console.log(name);
  return <button onClick={onClick}>{name}</button>;
}

export const List: React.FC<Props> = (props) => <ul>{props.name}</ul>;

export class Panel extends React.Component<Props> {
  render() { return <div><Hello name="x" /></div>; }
}
